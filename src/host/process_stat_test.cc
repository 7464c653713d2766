// SPDX-License-Identifier: Apache-2.0
#include "host/process_stat.h"

#include <gtest/gtest.h>

namespace sawbill::host {
namespace {

// A line of Linux 6.18, the name apart.
std::string Line(const std::string& name) {
  return "4711 (" + name +
         ") S 12 34 56 0 -1 4194304 100 200 0 0 70 30 500 20 20 0 9 0 123456 1000 200 18446744073709551615 1 1 0 0 0 0 "
         "0 "
         "0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
}

TEST(ProcessStat, FieldsBehindTheName) {
  ProcessStat s;
  ASSERT_TRUE(ParseProcessStat(Line("python"), &s));
  EXPECT_EQ(s.pid, 4711);
  EXPECT_EQ(s.comm, "python");
  EXPECT_EQ(s.state, 'S');
  EXPECT_EQ(s.parent, 12);
  EXPECT_EQ(s.group, 34);
  EXPECT_EQ(s.session, 56);
  EXPECT_EQ(s.cpu_ticks, 100U);
  EXPECT_EQ(s.reaped_ticks, 520U);
  EXPECT_EQ(s.threads, 9U);
  EXPECT_EQ(s.start_ticks, 123456U);
  EXPECT_FALSE(s.kernel_thread());
}

TEST(ProcessStat, NamesMayHoldAnything) {
  for (const char* name : {"a b", "a) R 1 1", "((", "))", "two\nlines", ""}) {
    ProcessStat s;
    ASSERT_TRUE(ParseProcessStat(Line(name), &s)) << name;
    EXPECT_EQ(s.comm, name);
    EXPECT_EQ(s.parent, 12);
  }
}

TEST(ProcessStat, FewFieldsAreNone) {
  ProcessStat s;
  const std::string whole = Line("x");
  for (size_t n = 0; n < whole.find("123456"); ++n) EXPECT_FALSE(ParseProcessStat(whole.substr(0, n), &s)) << n;
  for (const char* text : {"", "x", "1 (a", "1 a) S", ") 1 (", "0 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}) {
    EXPECT_FALSE(ParseProcessStat(text, &s)) << text;
  }
}

TEST(ProcessStat, AMainThreadThatEndedFirstIsNotDefunct) {
  ProcessStat s;
  s.state = 'Z';
  s.threads = 5;
  EXPECT_FALSE(s.defunct());
  s.threads = 1;
  EXPECT_TRUE(s.defunct());
}

TEST(ProcessIo, CountsWhatCameFromStorage) {
  const ProcessIo io =
      ParseProcessIo("rchar: 999\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 512\ncancelled_write_bytes: 0\n");
  EXPECT_TRUE(io.known);
  EXPECT_EQ(io.read_bytes, 4096U);
  EXPECT_EQ(io.written_bytes, 512U);
  EXPECT_FALSE(ParseProcessIo("").known);
  EXPECT_FALSE(ParseProcessIo("read_bytes: 4096\n").known);
}

}  // namespace
}  // namespace sawbill::host
