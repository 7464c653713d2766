// SPDX-License-Identifier: Apache-2.0
// For tests: the program on a machine of text, with one small log on its disk.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/environment.h"
#include "sys/mem_fs.h"

namespace sawbill::app {

/// A log as nvidia-smi writes it: one card, `n` samples a second apart from 12:00:00 UTC, 3 of 10 near nothing.
inline std::string SmiLog(int n, const std::string& name = "NVIDIA TEST 8GB") {
  std::string out = "timestamp, index, name, uuid, utilization.gpu [%], memory.used [MiB], power.draw [W]\n";
  for (int i = 0; i < n; ++i) {
    const bool low = i % 10 < 3;
    out += fmt::format("2026/03/01 12:{:02}:{:02}.000, 0, {}, GPU-1111, {} %, 4000 MiB, {}.00 W\n", i / 60, i % 60,
                       name, low ? 3 : 95, low ? 90 : 300);
  }
  return out;
}

class CliTest : public testing::Test {
 protected:
  CliTest() {
    env_.fs = &fs_;
    env_.out = &out_;
    env_.err = &err_;
    env_.now = 1'772'400'000'000;
    env_.vars = {{"HOME", "/users/u"}, {"LANG", "C.UTF-8"}, {"SAWBILL_TZ", "UTC"}};
    fs_.Put("/logs/gpu.csv", SmiLog(600));
    EXPECT_TRUE(fs_.MakeDirs("/users/u").ok());
    EXPECT_TRUE(fs_.MakeDirs("/tmp").ok());
  }
  int Run(const std::vector<std::string>& args) {
    out_.Clear();
    err_.Clear();
    return RunMain(args, &env_);
  }
  const std::string& Out() const { return out_.text(); }
  const std::string& Err() const { return err_.text(); }

  sys::MemFileSystem fs_;
  MemStream out_, err_;
  Environment env_;
};

}  // namespace sawbill::app
