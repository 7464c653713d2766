// SPDX-License-Identifier: Apache-2.0
// Both trees, the real one below a folder of the test's own, behave alike.
#include "sys/proc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace sawbill::sys {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RealTree : public testing::Test {
 protected:
  RealTree() {
    root_ = testing::TempDir() + "/proc_files_" + std::to_string(::getpid());
    EXPECT_EQ(::mkdir(root_.c_str(), 0755), 0);
    EXPECT_EQ(::mkdir((root_ + "/proc").c_str(), 0755), 0);
    files_ = MakeRealProcFiles(root_);
  }
  ~RealTree() override {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) std::remove(it->c_str());
    std::remove((root_ + "/proc").c_str());
    std::remove(root_.c_str());
  }
  void Put(const std::string& path, const std::string& text) {
    made_.push_back(root_ + path);
    FILE* f = std::fopen(made_.back().c_str(), "wb");
    ASSERT_NE(f, nullptr);
    std::fwrite(text.data(), 1, text.size(), f);
    std::fclose(f);
  }
  void MakeDir(const std::string& path) {
    made_.push_back(root_ + path);
    ASSERT_EQ(::mkdir(made_.back().c_str(), 0755), 0);
  }

  std::string root_;
  std::vector<std::string> made_;
  std::unique_ptr<ProcFiles> files_;
};

TEST_F(RealTree, ReadsWholeFilesOfEveryLength) {
  for (const size_t length : {size_t{0}, size_t{1}, size_t{4095}, size_t{8192}, size_t{100'000}}) {
    Put("/proc/x", std::string(length, 'a'));
    std::string text = "old";
    EXPECT_TRUE(files_->Read("/proc/x", &text)) << length;
    EXPECT_EQ(text.size(), length);
  }
}

TEST_F(RealTree, HoldsAtMostAMebibyte) {
  Put("/proc/x", std::string(3 << 20, 'a'));
  std::string text;
  EXPECT_TRUE(files_->Read("/proc/x", &text));
  EXPECT_LE(text.size(), (size_t{1} << 20) + 8192);
}

TEST_F(RealTree, WhatCannotBeReadIsNotThere) {
  std::string text = "old";
  EXPECT_FALSE(files_->Read("/proc/none", &text));
  EXPECT_EQ(text, "");
  text = "old";
  EXPECT_FALSE(files_->Read("/proc", &text)) << "a folder";
  EXPECT_EQ(text, "");
  EXPECT_THAT(files_->List("/none"), IsEmpty());
  EXPECT_FALSE(files_->ReadLink("/proc"));
  EXPECT_FALSE(files_->Owner("/none"));
}

TEST_F(RealTree, ListsNamesAndNumbers) {
  for (const char* name : {"/proc/12", "/proc/3", "/proc/self", "/proc/0", "/proc/7x"}) MakeDir(name);
  Put("/proc/stat", "");
  EXPECT_THAT(files_->ListNumbers("/proc"), ElementsAre(3, 12));
  EXPECT_THAT(files_->List("/proc"), UnorderedElementsAre("12", "3", "self", "0", "7x", "stat"));
}

TEST_F(RealTree, LinksAndOwners) {
  made_.push_back(root_ + "/proc/exe");
  ASSERT_EQ(::symlink("/usr/bin/python3 (deleted)", made_.back().c_str()), 0);
  EXPECT_EQ(files_->ReadLink("/proc/exe"), "/usr/bin/python3 (deleted)")
      << "as it stands, whether it leads anywhere or not";
  Put("/proc/x", "");
  EXPECT_EQ(files_->Owner("/proc/x"), ::geteuid());
}

TEST(MemTree, ReadsWhatWasPut) {
  MemProcFiles files;
  files.Put("/proc/1/stat", "a");
  std::string text;
  EXPECT_TRUE(files.Read("/proc/1/stat", &text));
  EXPECT_EQ(text, "a");
  EXPECT_FALSE(files.Read("/proc/1", &text));
  EXPECT_EQ(text, "");
  EXPECT_EQ(files.reads(), 2);
}

TEST(MemTree, FoldersAreWhatPathsSay) {
  MemProcFiles files;
  files.Put("/proc/12/stat", "");
  files.PutLink("/proc/3/exe", "/bin/x");
  files.Put("/process/5", "");
  EXPECT_THAT(files.List("/proc"), UnorderedElementsAre("12", "3"));
  EXPECT_THAT(files.List("/proc/"), UnorderedElementsAre("12", "3"));
  EXPECT_THAT(files.ListNumbers("/proc"), ElementsAre(3, 12));
  EXPECT_EQ(files.ReadLink("/proc/3/exe"), "/bin/x");
}

TEST(MemTree, RemovesAPathAndAllBelowButNotItsNamesake) {
  MemProcFiles files;
  files.Put("/proc/1/stat", "");
  files.PutLink("/proc/1/exe", "x");
  files.SetOwner("/proc/1", 5);
  files.Put("/proc/12/stat", "");
  files.Remove("/proc/1");
  EXPECT_THAT(files.List("/proc"), ElementsAre("12"));
  EXPECT_FALSE(files.Owner("/proc/1"));
}

TEST(MemTree, OwnersDefaultToRoot) {
  MemProcFiles files;
  files.Put("/proc/1/stat", "");
  EXPECT_EQ(files.Owner("/proc/1"), 0U);
  files.SetOwner("/proc/1", 1000);
  EXPECT_EQ(files.Owner("/proc/1"), 1000U);
}

TEST(UserName, UnknownUsersKeepTheirNumber) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(UserName(3'999'999'999U), "uid 3999999999");
  EXPECT_EQ(UserName(3'999'999'999U), "uid 3999999999") << "the second time from memory";
}

}  // namespace
}  // namespace sawbill::sys
