// SPDX-License-Identifier: Apache-2.0
#include "ingest/words.h"

#include <gtest/gtest.h>

#include "base/numbers.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

class WordsTest : public ::testing::Test {
 protected:
  double Reading(std::string_view word) { return TakeReading(word, &tally_); }
  int64_t Count(Odd odd) const { return quality_.count(odd); }
  ReadContext context_;
  sys::LineReader lines_{sys::OpenBytes("")};
  model::DataQuality quality_;
  Tally tally_{context_, lines_, &quality_};
};

TEST_F(WordsTest, ReadingsWithTheirUnits) {
  EXPECT_EQ(Reading("97W"), 97);
  EXPECT_EQ(Reading(" 1835 MiB "), 1835);
  EXPECT_EQ(Reading("2 GiB"), 2048);
  EXPECT_EQ(Reading("0.156"), 0.156);
  EXPECT_EQ(Reading("29%"), 29);
}

TEST_F(WordsTest, WhatSaysThatThereIsNoneIsCountedByItsKind) {
  for (const char* word : {"N/A", "[Not Supported]", "-", "??"}) EXPECT_TRUE(IsMissing(Reading(word))) << word;
  EXPECT_EQ(Count(Odd::kNotSupported), 4);
  EXPECT_TRUE(IsMissing(Reading("ERR!")));
  EXPECT_EQ(Count(Odd::kErrorCell), 1);
}

TEST_F(WordsTest, TornAndMergedCellsAreNoReadings) {
  for (const char* word : {"97W3", "4x", "12 13", "1e"}) EXPECT_TRUE(IsMissing(Reading(word))) << word;
  EXPECT_EQ(Count(Odd::kBadCell), 4);
}

TEST(ProcessNames, AreWithoutPathsAndArguments) {
  EXPECT_EQ(ProcessName("/opt/conda/envs/a/bin/python"), "python");
  EXPECT_EQ(ProcessName("./gpu_burn"), "gpu_burn");
  EXPECT_EQ(ProcessName("python3 /data/ann/train.py --secret=x"), "python3");
  EXPECT_EQ(ProcessName("C:\\Program Files\\App\\dwm.exe"), "dwm.exe");
  EXPECT_EQ(ProcessName("...em32\\ApplicationFrameHost.exe"), "ApplicationFrameHost.exe");
}

TEST(Colours, AreTakenOff) {
  std::string buffer;
  EXPECT_EQ(WithoutColours("plain", &buffer), "plain");
  EXPECT_EQ(WithoutColours("\x1b[1;36m[0]\x1b(B\x1b[m x", &buffer), "[0] x");
  EXPECT_EQ(WithoutColours("cut \x1b[1", &buffer), "cut ");
}

}  // namespace
}  // namespace sawbill::ingest
