// SPDX-License-Identifier: Apache-2.0
#include "sys/mem_fs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::sys {
namespace {

using testing::ElementsAre;

TEST(MemFsTest, PutMakesTheDirectories) {
  MemFileSystem fs;
  fs.SetNow(1234);
  fs.Put("d/e/a", "x");
  EXPECT_TRUE(fs.Exists("d/e/a"));
  EXPECT_TRUE(fs.Exists("./d//e/a"));
  EXPECT_EQ(fs.Get("d/e/a"), "x");
  EXPECT_TRUE(fs.Stat("d/e")->is_directory);
  EXPECT_EQ(fs.Stat("d/e/a")->modified_ms, 1234);
  EXPECT_TRUE(fs.OpenAppend("d/e/b").ok());
  EXPECT_THAT(fs.Paths(), ElementsAre("d/e/a", "d/e/b"));
  EXPECT_EQ(fs.List(".")->size(), 1u);
  EXPECT_TRUE(fs.List("/")->empty());
}

TEST(MemFsTest, AFullDiskTearsAnAppend) {
  MemFileSystem fs;
  auto file = fs.OpenAppend("log");
  ASSERT_TRUE(file.ok());
  fs.SetSpaceLeft(6);
  EXPECT_TRUE((*file)->Append("1234").ok());
  const Status s = (*file)->Append("5678");
  EXPECT_EQ(s.kind(), StatusKind::kUnavailable);
  EXPECT_NE(s.message().find("no space left on device"), std::string::npos);
  EXPECT_EQ(fs.Get("log"), "123456");
  EXPECT_FALSE((*file)->Append("9").ok());
  EXPECT_TRUE((*file)->Append("").ok());
  fs.SetSpaceLeft(std::nullopt);
  EXPECT_TRUE((*file)->Truncate(4).ok());
  EXPECT_TRUE((*file)->Append("!").ok());
  EXPECT_EQ(fs.Get("log"), "1234!");
}

TEST(MemFsTest, AFullDiskLeavesTheOldFileWhole) {
  MemFileSystem fs;
  fs.Put("a", "old");
  fs.SetSpaceLeft(2);
  EXPECT_FALSE(fs.WriteAtomically("a", "new").ok());
  EXPECT_EQ(fs.Get("a"), "old");
}

TEST(MemFsTest, MappedBytesDoNotMove) {
  MemFileSystem fs;
  fs.Put("a", "old");
  const auto bytes = fs.Map("a");
  auto file = fs.OpenAppend("a");
  ASSERT_TRUE(bytes.ok() && file.ok());
  EXPECT_TRUE((*file)->Append(std::string(10'000, 'x')).ok());
  EXPECT_EQ((*bytes)->bytes(), "old");
}

TEST(MemFsTest, Network) {
  MemFileSystem fs;
  EXPECT_EQ(fs.NetworkFileSystem("a"), "");
  fs.SetNetwork("nfs");
  EXPECT_EQ(fs.NetworkFileSystem("a"), "nfs");
}

}  // namespace
}  // namespace sawbill::sys
