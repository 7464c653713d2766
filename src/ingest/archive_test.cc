// SPDX-License-Identifier: Apache-2.0
#include "ingest/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

std::string Octal(size_t value, size_t digits) {
  std::string out(digits, '0');
  for (size_t i = digits; i-- > 0; value /= 8) out[i] = static_cast<char>('0' + value % 8);
  return out;
}

/// One member as tar writes it.
std::string Member(const std::string& name, const std::string& content, char type = '0',
                   const std::string& prefix = "") {
  std::string h(512, '\0');
  h.replace(0, name.size(), name);
  h.replace(124, 11, Octal(content.size(), 11));
  h.replace(136, 11, Octal(1'700'000'000, 11));
  h[156] = type;
  h.replace(257, 6, std::string("ustar\0", 6));
  h.replace(345, prefix.size(), prefix);
  h.replace(148, 8, "        ");
  size_t sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  h.replace(148, 7, Octal(sum, 6) + std::string(1, '\0'));
  std::string padded = content;
  padded.resize((content.size() + 511) / 512 * 512, '\0');
  return h + padded;
}
const std::string kEnd(1024, '\0');

std::string ContentOf(const Archive& a, const std::string& path) {
  const auto file = a.fs->Map(path);
  return file.ok() ? std::string((*file)->bytes()) : "(not there)";
}

TEST(Tar, FilesOfFoldersAreReadWithTheirTimes) {
  const std::string tar = Member("logs/", "", '5') + Member("logs/a.csv", "one") + Member("b.csv", "two") + kEnd;
  ASSERT_TRUE(LooksLikeTar(tar));
  const auto a = OpenTar(tar, Lang::kEn);
  ASSERT_TRUE(a.ok()) << a.status().message();
  EXPECT_EQ(ContentOf(*a, "/logs/a.csv"), "one");
  EXPECT_EQ(ContentOf(*a, "/b.csv"), "two");
  EXPECT_EQ(a->fs->Stat("/b.csv")->modified_ms, 1'700'000'000'000);
  EXPECT_TRUE(a->notes.empty());
}

TEST(Tar, PackedArchivesAreArchives) {
  const std::string tar = Member("a.csv", "one") + kEnd;
  for (const auto& packed : {*sys::CompressGzip(tar), *sys::CompressZstd(tar)}) {
    const auto a = OpenTar(packed, Lang::kEn);
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(ContentOf(*a, "/a.csv"), "one");
  }
}

TEST(Tar, LongNamesOfEveryKindAreWhole) {
  const std::string name = std::string(120, 'd') + "/log.csv", name_record = "path=" + name + "\n";
  const std::string record = std::to_string(name_record.size() + 4) + " " + name_record;
  EXPECT_EQ(
      ContentOf(*OpenTar(Member("././@LongLink", name + '\0', 'L') + Member("cut", "x") + kEnd, Lang::kEn), "/" + name),
      "x");
  EXPECT_EQ(ContentOf(*OpenTar(Member("pax", record, 'x') + Member("cut", "y") + kEnd, Lang::kEn), "/" + name), "y");
  EXPECT_EQ(ContentOf(*OpenTar(Member("log.csv", "z", '0', "deep/er") + kEnd, Lang::kEn), "/deep/er/log.csv"), "z");
}

TEST(Tar, NothingLeadsOutOfTheArchive) {
  const auto a = OpenTar(Member("../../etc/passwd", "x") + Member("link", "", '2') + kEnd, Lang::kEn);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(ContentOf(*a, "/etc/passwd"), "x");
  EXPECT_FALSE(a->fs->Stat("/link").ok());
}

TEST(Tar, ADamagedTailGivesWhatStandsBeforeIt) {
  std::string tar = Member("a.csv", "one") + Member("b.csv", std::string(2000, 'b'));
  tar.resize(tar.size() - 1500);
  const auto a = OpenTar(tar, Lang::kEn);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(ContentOf(*a, "/a.csv"), "one");
  EXPECT_EQ(ContentOf(*a, "/b.csv"), std::string(548, 'b'));
  EXPECT_THAT(a->notes, testing::ElementsAre(testing::HasSubstr("cut off at byte 1024")));
}

TEST(Tar, ABombIsRefused) {
  const std::string packed = *sys::CompressGzip(Member("zeros", std::string(4 << 20, '\0')) + kEnd);
  EXPECT_EQ(OpenTar(packed, Lang::kEn, 1 << 20).status().kind(), StatusKind::kUnsupported);
}

TEST(Tar, OtherBytesAreNone) {
  EXPECT_FALSE(LooksLikeTar(""));
  EXPECT_FALSE(LooksLikeTar(std::string(512, '\0')));
  EXPECT_FALSE(LooksLikeTar("timestamp, utilization.gpu [%]\n" + std::string(600, '1')));
  EXPECT_EQ(OpenTar(kEnd, Lang::kEn).status().kind(), StatusKind::kUnsupported);
}

}  // namespace
}  // namespace sawbill::ingest
