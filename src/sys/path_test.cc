// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sys/file.h"

namespace sawbill::sys {
namespace {

TEST(PathTest, Join) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", ""), "a");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
}

TEST(PathTest, BaseAndDir) {
  EXPECT_EQ(BaseName("a/b.csv"), "b.csv");
  EXPECT_EQ(BaseName("b.csv"), "b.csv");
  EXPECT_EQ(BaseName("a/b/"), "b");
  EXPECT_EQ(BaseName("/"), "/");
  EXPECT_EQ(BaseName("/b"), "b");
  EXPECT_EQ(BaseName(""), "");
  EXPECT_EQ(DirName("a/b.csv"), "a");
  EXPECT_EQ(DirName("b.csv"), ".");
  EXPECT_EQ(DirName("a/b/"), "a");
  EXPECT_EQ(DirName("a//b"), "a");
  EXPECT_EQ(DirName("/b"), "/");
  EXPECT_EQ(DirName("/"), "/");
  EXPECT_EQ(DirName(""), ".");
}

}  // namespace
}  // namespace sawbill::sys
