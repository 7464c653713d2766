// SPDX-License-Identifier: Apache-2.0
// What any FileSystem does: run against the real one and the one in memory, so that the fake stays true.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "sys/file.h"
#include "sys/mem_fs.h"

namespace sawbill::sys {
namespace {

class FileSystemTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      char dir[] = "/tmp/sawbill_fs_test_XXXXXX";
      ASSERT_NE(::mkdtemp(dir), nullptr);
      root_ = dir;
      fs_ = MakeRealFileSystem();
    } else {
      root_ = "/mem";
      fs_ = std::make_unique<MemFileSystem>();
      ASSERT_TRUE(fs_->MakeDirs(root_).ok());
    }
  }
  void TearDown() override {
    fs_.reset();
    if (GetParam()) std::filesystem::remove_all(root_);
  }
  std::string P(std::string_view name) const { return JoinPath(root_, name); }
  std::string Read(const std::string& name) {
    const auto bytes = fs_->Map(P(name));
    return bytes.ok() ? std::string((*bytes)->bytes()) : "error: " + bytes.status().message();
  }

  std::string root_;
  std::unique_ptr<FileSystem> fs_;
};

INSTANTIATE_TEST_SUITE_P(Both, FileSystemTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Real" : "Memory"; });

TEST_P(FileSystemTest, WriteAndMap) {
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "hello").ok());
  EXPECT_EQ(Read("a"), "hello");
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "").ok());
  EXPECT_EQ(Read("a"), "");
  const auto list = fs_->List(root_);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->size(), 1u);  // nothing temporary stays
}

TEST_P(FileSystemTest, MappedBytesOutliveTheNameAndForgetting) {
  const std::string data(100'000, 'x');
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), data).ok());
  const auto bytes = fs_->Map(P("a"));
  ASSERT_TRUE(bytes.ok());
  ASSERT_TRUE(fs_->Remove(P("a")).ok());
  (*bytes)->Forget(50'000);
  (*bytes)->Forget(10);
  (*bytes)->Forget(1'000'000);
  EXPECT_EQ((*bytes)->bytes(), data);
}

TEST_P(FileSystemTest, MissingIsNotFound) {
  const std::string path = P("none");
  for (const Status& s : {fs_->Map(path).status(), fs_->Stat(path).status(), fs_->List(path).status(),
                          fs_->Remove(path), fs_->Rename(path, P("b")), fs_->OpenAppend(P("none/a")).status(),
                          fs_->WriteAtomically(P("none/a"), "x"), fs_->Lock(P("none/l")).status()}) {
    EXPECT_EQ(s.kind(), StatusKind::kNotFound) << s.message();
    EXPECT_NE(s.message().find("none"), std::string::npos) << s.message();
    EXPECT_NE(s.message().find("No such file"), std::string::npos) << s.message();
  }
}

TEST_P(FileSystemTest, DirectoriesAreNoFiles) {
  ASSERT_TRUE(fs_->MakeDirs(P("d")).ok());
  for (const Status& s :
       {fs_->Map(P("d")).status(), fs_->OpenAppend(P("d")).status(), fs_->WriteAtomically(P("d"), "x")}) {
    EXPECT_EQ(s.kind(), StatusKind::kInvalid);
    EXPECT_NE(s.message().find("is a directory"), std::string::npos) << s.message();
  }
}

TEST_P(FileSystemTest, AppendGrowsAndTruncateTakesBack) {
  {
    auto file = fs_->OpenAppend(P("log"));
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->size(), 0);
    EXPECT_TRUE((*file)->Append("one\n").ok());
    EXPECT_TRUE((*file)->Sync().ok());
    EXPECT_EQ((*file)->size(), 4);
  }
  auto file = fs_->OpenAppend(P("log"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 4);
  EXPECT_TRUE((*file)->Append("two\nthr").ok());
  EXPECT_TRUE((*file)->Append("").ok());
  EXPECT_TRUE((*file)->Truncate(8).ok());
  EXPECT_EQ((*file)->size(), 8);
  EXPECT_TRUE((*file)->Append("3\n").ok());
  EXPECT_TRUE((*file)->Sync().ok());
  EXPECT_EQ(Read("log"), "one\ntwo\n3\n");
}

TEST_P(FileSystemTest, ListIsSortedAndTellsDirectories) {
  ASSERT_TRUE(fs_->WriteAtomically(P("b"), "12").ok());
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "1").ok());
  ASSERT_TRUE(fs_->MakeDirs(P("c/d")).ok());
  ASSERT_TRUE(fs_->WriteAtomically(P("c/d/e"), "x").ok());
  const auto list = fs_->List(root_);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].name, "a");
  EXPECT_EQ((*list)[0].size_bytes, 1);
  EXPECT_FALSE((*list)[0].is_directory);
  EXPECT_EQ((*list)[1].name, "b");
  EXPECT_EQ((*list)[2].name, "c");
  EXPECT_TRUE((*list)[2].is_directory);
  EXPECT_EQ(fs_->List(P("a")).status().kind(), StatusKind::kInvalid);
  EXPECT_EQ(fs_->List(P("c/d"))->size(), 1u);
}

TEST_P(FileSystemTest, StatFilesAndDirectories) {
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "123").ok());
  const auto file = fs_->Stat(P("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->name, "a");
  EXPECT_EQ(file->size_bytes, 3);
  EXPECT_TRUE(fs_->Stat(root_)->is_directory);
}

TEST_P(FileSystemTest, MakeDirsTwiceAndOverAFile) {
  EXPECT_TRUE(fs_->MakeDirs(P("x/y/z/")).ok());
  EXPECT_TRUE(fs_->MakeDirs(P("x//y/z")).ok());
  EXPECT_TRUE(fs_->Stat(P("x/y/z"))->is_directory);
  ASSERT_TRUE(fs_->WriteAtomically(P("f"), "x").ok());
  EXPECT_EQ(fs_->MakeDirs(P("f")).kind(), StatusKind::kInvalid);
  EXPECT_EQ(fs_->MakeDirs(P("f/g")).kind(), StatusKind::kInvalid);
}

TEST_P(FileSystemTest, RemoveFilesAndEmptyDirectories) {
  ASSERT_TRUE(fs_->MakeDirs(P("d")).ok());
  ASSERT_TRUE(fs_->WriteAtomically(P("d/a"), "x").ok());
  EXPECT_FALSE(fs_->Remove(P("d")).ok());
  EXPECT_TRUE(fs_->Remove(P("d/a")).ok());
  EXPECT_TRUE(fs_->Stat(P("d")).ok());
  EXPECT_TRUE(fs_->Remove(P("d")).ok());
  EXPECT_FALSE(fs_->Stat(P("d")).ok());
}

TEST_P(FileSystemTest, RenameReplaces) {
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "new").ok());
  ASSERT_TRUE(fs_->WriteAtomically(P("b"), "old").ok());
  ASSERT_TRUE(fs_->Rename(P("a"), P("b")).ok());
  EXPECT_EQ(Read("b"), "new");
  EXPECT_FALSE(fs_->Stat(P("a")).ok());
  ASSERT_TRUE(fs_->Rename(P("b"), P("b")).ok());
  EXPECT_EQ(Read("b"), "new");
}

TEST_P(FileSystemTest, RenameMovesDirectories) {
  ASSERT_TRUE(fs_->MakeDirs(P("d/e")).ok());
  ASSERT_TRUE(fs_->WriteAtomically(P("d/e/a"), "x").ok());
  ASSERT_TRUE(fs_->Rename(P("d"), P("n")).ok());
  EXPECT_EQ(Read("n/e/a"), "x");
  EXPECT_FALSE(fs_->Stat(P("d")).ok());
}

TEST_P(FileSystemTest, LockHasOneHolder) {
  {
    const auto held = fs_->Lock(P("lock"));
    ASSERT_TRUE(held.ok()) << held.status().message();
    const auto refused = fs_->Lock(P("lock"));
    EXPECT_EQ(refused.status().kind(), StatusKind::kUnavailable);
    EXPECT_NE(refused.status().message().find("locked by another"), std::string::npos);
  }
  EXPECT_TRUE(fs_->Lock(P("lock")).ok());
  EXPECT_TRUE(fs_->Lock(root_).ok());
  EXPECT_TRUE(fs_->Stat(P("lock")).ok());
}

TEST_P(FileSystemTest, LockLeavesTheContentAlone) {
  ASSERT_TRUE(fs_->WriteAtomically(P("data"), "precious").ok());
  const auto held = fs_->Lock(P("data"));
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(Read("data"), "precious");
}

}  // namespace
}  // namespace sawbill::sys
