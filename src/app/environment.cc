// SPDX-License-Identifier: Apache-2.0
#include "app/environment.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <thread>

#include "app/make_source.h"
#include "sys/terminal.h"

extern char** environ;

namespace sawbill::app {
namespace {

class FdStream : public Stream {
 public:
  explicit FdStream(int fd) : fd_(fd) {}
  void Write(std::string_view text) override {
    while (!text.empty() && !closed_) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n > 0) {
        text.remove_prefix(static_cast<size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        closed_ = true;
        if (n < 0 && errno != EPIPE)
          status_ = Status::Io(std::string("cannot write the result: ") + std::strerror(errno));
      }
    }
  }
  Status status() const override { return status_; }

 private:
  int fd_;
  bool closed_ = false;
  Status status_;
};

Result<std::string> ReadStdin() {
  std::string all;
  std::vector<char> block(1 << 20);
  while (true) {
    const ssize_t n = ::read(STDIN_FILENO, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Status::Io(std::string("cannot read stdin: ") + std::strerror(errno));
    if (n == 0) return all;
    all.append(block.data(), static_cast<size_t>(n));
  }
}

std::string ExePath() {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

std::optional<std::string> LoadLibrary(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return why == nullptr ? "unknown reason" : why;
  }
  ::dlclose(handle);
  return std::nullopt;
}

}  // namespace

RealEnvironment::RealEnvironment()
    : fs(sys::MakeRealFileSystem()), out(new FdStream(STDOUT_FILENO)), err(new FdStream(STDERR_FILENO)) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then EPIPE, which FdStream takes quietly
  env.fs = fs.get();
  env.out = out.get();
  env.err = err.get();
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string_view pair = *v;
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos) env.vars.emplace(pair.substr(0, equals), pair.substr(equals + 1));
  }
  // Services and containers may run without it; what others inherit stays as it was.
  if (!env.Var("HOME")) env.vars["HOME"] = sys::HomeDir();
  env.out_is_terminal = sys::IsTerminal(STDOUT_FILENO);
  env.err_is_terminal = sys::IsTerminal(STDERR_FILENO);
  env.columns = sys::TerminalColumns(STDOUT_FILENO, 80);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  env.now = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  env.exe_path = ExePath();
  env.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
  env.load_library = LoadLibrary;
  env.pid = ::getpid();
  env.parent_pid = ::getppid();
  if (!sys::IsTerminal(STDIN_FILENO)) env.read_stdin = ReadStdin;
  env.make_source = MakeCardSource;
  env.make_proc_files = [] { return std::shared_ptr<sys::ProcFiles>(sys::MakeRealProcFiles()); };
}

}  // namespace sawbill::app
