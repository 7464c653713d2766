// SPDX-License-Identifier: Apache-2.0
#include "sys/decompress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sawbill::sys {
namespace {

using testing::ElementsAre;

struct Outcome {
  std::string text;
  Status status;
  size_t largest_block = 0;
};

Outcome Drain(std::string_view bytes, size_t block_bytes = 1 << 20) {
  Outcome out;
  const std::unique_ptr<ByteSource> source = OpenBytes(bytes, block_bytes);
  while (true) {
    const Result<std::string_view> block = source->Next();
    if (!block.ok()) {
      out.status = block.status();
      EXPECT_FALSE(source->Next().ok());  // an error stays
      return out;
    }
    if (block->empty()) return out;
    out.text += *block;
    out.largest_block = std::max(out.largest_block, block->size());
  }
}

std::string Gz(std::string_view s) { return CompressGzip(s).value(); }
std::string Zst(std::string_view s) { return CompressZstd(s).value(); }

/// Text that does not compress to nothing.
std::string Sample(size_t bytes) {
  std::string s;
  uint32_t x = 1;
  while (s.size() < bytes) {
    x = x * 1664525u + 1013904223u;
    s += std::to_string(x) + (x % 5 == 0 ? "\r\n" : ",");
  }
  s.resize(bytes);
  return s;
}

TEST(DetectTest, ByTheFirstBytes) {
  EXPECT_EQ(DetectCompression(Gz("x")), Compression::kGzip);
  EXPECT_EQ(DetectCompression(Zst("x")), Compression::kZstd);
  EXPECT_EQ(DetectCompression(std::string_view("\x50\x2a\x4d\x18\0\0\0\0", 8)), Compression::kZstd);
  EXPECT_EQ(DetectCompression("timestamp,index"), Compression::kNone);
  EXPECT_EQ(DetectCompression(""), Compression::kNone);
  EXPECT_EQ(DetectCompression("\x1f"), Compression::kNone);
}

TEST(OpenBytesTest, RoundTrips) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{3'000'000}}) {
    const std::string text = Sample(size);
    EXPECT_EQ(Drain(text).text, text);
    for (const std::string& packed : {Gz(text), Zst(text)}) {
      for (const size_t block : {size_t{7}, size_t{4096}, size_t{1} << 20}) {
        if (size > 1000 && block < 4096) continue;
        const Outcome out = Drain(packed, block);
        EXPECT_TRUE(out.status.ok()) << out.status.message();
        EXPECT_TRUE(out.text == text);
        EXPECT_LE(out.largest_block, block);
      }
    }
  }
}

TEST(OpenBytesTest, SeveralMembersAndFrames) {
  EXPECT_EQ(Drain(Gz("one\n") + Gz("") + Gz("two\n")).text, "one\ntwo\n");
  EXPECT_EQ(Drain(Zst("one\n") + Zst("") + Zst("two\n")).text, "one\ntwo\n");
  const std::string skippable("\x50\x2a\x4d\x18\x02\0\0\0!!", 10);
  EXPECT_EQ(Drain(skippable + Zst("one\n") + skippable).text, "one\n");
}

TEST(OpenBytesTest, WhatFollowsTheLastGzipMemberIsIgnored) {
  for (const std::string& tail : {std::string(512, '\0'), std::string("garbage"), std::string("\x1f")}) {
    const Outcome out = Drain(Gz("one\n") + tail);
    EXPECT_TRUE(out.status.ok()) << out.status.message();
    EXPECT_EQ(out.text, "one\n");
  }
}

TEST(OpenBytesTest, EveryTruncationGivesAPrefixThenAnError) {
  const std::string text = Sample(3000);
  for (const std::string& packed : {Gz(text), Zst(text)}) {
    for (size_t n = 4; n < packed.size(); ++n) {
      const Outcome out = Drain(std::string_view(packed).substr(0, n), 256);
      ASSERT_EQ(out.status.kind(), StatusKind::kIo) << n;
      ASSERT_EQ(out.text, text.substr(0, out.text.size())) << n;
    }
    EXPECT_NE(Drain(std::string_view(packed).substr(0, packed.size() / 2)).status.message().find("cut off"),
              std::string::npos);
  }
  // Most of the text is there though the end is not.
  EXPECT_GT(Drain(std::string_view(Gz(text)).substr(0, Gz(text).size() - 4)).text.size(), 2990u);
}

TEST(OpenBytesTest, EveryFlippedByteIsSafeAndMostAreNoticed) {
  const std::string text = Sample(2000);
  for (const std::string& packed : {Gz(text), Zst(text)}) {
    int unnoticed = 0;
    for (size_t i = 4; i < packed.size(); ++i) {
      std::string damaged = packed;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      const Outcome out = Drain(damaged, 512);
      if (out.status.ok() && out.text != text) ++unnoticed;
    }
    EXPECT_EQ(unnoticed, 0);
  }
}

TEST(OpenBytesTest, ZstdFollowedByGarbageIsDamaged) {
  const Outcome out = Drain(Zst("one\n") + "garbage");
  EXPECT_EQ(out.text, "one\n");
  EXPECT_EQ(out.status.kind(), StatusKind::kIo);
}

TEST(CompressTest, ZstdHoldsSizeAndChecksum) {
  const std::string packed = Zst("hello");
  ASSERT_GT(packed.size(), 5u);
  EXPECT_NE(packed[4] & 0x04, 0);  // frame header descriptor: checksum flag
  EXPECT_EQ(packed[5], 5);         // single segment: content size in one byte
  EXPECT_EQ(Gz("hello"), Gz("hello"));
}

struct Line {
  std::string text;
  bool terminated;
  int64_t number;
  bool operator==(const Line&) const = default;
};
void PrintTo(const Line& l, std::ostream* os) { *os << l.number << ":" << l.text << (l.terminated ? "|" : ""); }

std::vector<Line> Lines(std::string_view bytes, size_t block = 1 << 20, Status* status = nullptr) {
  LineReader reader(OpenBytes(bytes, block));
  std::vector<Line> lines;
  std::string_view line;
  while (reader.Next(&line)) lines.push_back({std::string(line), reader.terminated(), reader.line_number()});
  EXPECT_FALSE(reader.Next(&line));
  if (status != nullptr) *status = reader.status();
  return lines;
}

TEST(LineReaderTest, Ends) {
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("a"), ElementsAre(Line{"a", false, 1}));
  EXPECT_THAT(Lines("a\n"), ElementsAre(Line{"a", true, 1}));
  EXPECT_THAT(Lines("a\r\n\nb\r"), ElementsAre(Line{"a", true, 1}, Line{"", true, 2}, Line{"b", false, 3}));
  EXPECT_THAT(Lines("\n"), ElementsAre(Line{"", true, 1}));
  EXPECT_THAT(Lines("a\rb\r\r\n"), ElementsAre(Line{"a\rb\r", true, 1}));
}

TEST(LineReaderTest, TheBlockSizeChangesNothing) {
  const std::string text = Sample(5000) + "\nlast\r\n\r\nopen";
  const std::vector<Line> expected = Lines(text);
  ASSERT_GT(expected.size(), 20u);
  for (const std::string& packed : {Gz(text), Zst(text)}) {
    for (const size_t block : {size_t{1}, size_t{2}, size_t{3}, size_t{17}, size_t{1000}}) {
      EXPECT_EQ(Lines(packed, block), expected) << block;
    }
  }
}

TEST(LineReaderTest, ADamagedTailStillGivesItsLines) {
  const std::string text = Sample(20'000);
  const std::string packed = Gz(text);
  Status status;
  const std::vector<Line> lines = Lines(std::string_view(packed).substr(0, packed.size() / 2), 1 << 20, &status);
  EXPECT_EQ(status.kind(), StatusKind::kIo);
  EXPECT_GT(lines.size(), 20u);
  EXPECT_FALSE(lines.back().terminated);
  EXPECT_TRUE(lines.front().terminated);
}

TEST(LineReaderTest, AnEndlessLineIsRefusedInBoundedMemory) {
  const std::string bomb = Gz(std::string(size_t{65} << 20, 'x'));
  Status status;
  EXPECT_TRUE(Lines(bomb, 1 << 20, &status).empty());
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
}

}  // namespace
}  // namespace sawbill::sys
