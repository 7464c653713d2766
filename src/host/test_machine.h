// SPDX-License-Identifier: Apache-2.0
// For tests: processes that are text.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sys/proc_files.h"

namespace sawbill::host {

struct FakeProcess {
  int64_t pid = 0, parent = 1;
  std::string comm = "python";
  std::vector<std::string> args = {"python", "train.py"};
  int64_t group = 0, session = 0;  // 0 = its own pid
  double cpu_s = 0, reaped_s = 0;
  int64_t start = 1000;  // ticks of 10 ms since boot
  char state = 'S';
  int threads = 1;
  int64_t read_bytes = -1, written_bytes = 0;  // -1 = unreadable
  std::string cpus = "0-63";
  int uid = 0;
  uint64_t flags = 0x400000;
  std::string group_text = "0::/\n";
};

class FakeMachine : public sys::MemProcFiles {
 public:
  FakeMachine() {
    Put("/sys/devices/system/cpu/online", "0-63\n");
    Put("/proc/stat", "cpu  0 0 0 0\nbtime 1700000000\n");
    Put("/proc/self/status", "NSpid:\t4242\n");
    PutLink("/proc/self", "4242");
    SetFirstNamespace(true);
    Add({.pid = 1, .parent = 0, .comm = "systemd", .args = {"/sbin/init"}, .start = 1});
  }
  void SetFirstNamespace(bool first) { PutLink("/proc/self/ns/pid", first ? "pid:[4026531836]" : "pid:[4026532999]"); }
  void Add(const FakeProcess& p) {
    const std::string dir = "/proc/" + std::to_string(p.pid);
    Put(dir + "/stat",
        fmt::format("{} ({}) {} {} {} {} 0 -1 {} 0 0 0 0 {:.0f} 0 {:.0f} 0 20 0 {} 0 {} 0 0 0 0\n", p.pid, p.comm,
                    p.state, p.parent, p.group == 0 ? p.pid : p.group, p.session == 0 ? p.pid : p.session, p.flags,
                    p.cpu_s * 100, p.reaped_s * 100, p.threads, p.start));
    std::string cmdline;
    for (const std::string& a : p.args) cmdline += a + '\0';
    Put(dir + "/cmdline", cmdline);
    Put(dir + "/status", fmt::format("Uid:\t{}\t0\t0\t0\nCpus_allowed_list:\t{}\n", p.uid, p.cpus));
    Put(dir + "/cgroup", p.group_text);
    if (p.read_bytes >= 0) {
      Put(dir + "/io",
          fmt::format("rchar: 9\nwchar: 9\nread_bytes: {}\nwrite_bytes: {}\n", p.read_bytes, p.written_bytes));
    }
  }
  void OpenFile(int64_t pid, int fd, const std::string& target) {
    PutLink(fmt::format("/proc/{}/fd/{}", pid, fd), target);
  }
  void End(int64_t pid) { Remove("/proc/" + std::to_string(pid)); }
};

}  // namespace sawbill::host
