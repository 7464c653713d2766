// SPDX-License-Identifier: Apache-2.0
// What is said of files that cannot be read, in both languages, and tables whose cells are parted by something else.
#include <gmock/gmock.h>

#include "ingest/test_util.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

using model::GpuMetric;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string RefusalIn(Lang lang, const std::string& bytes) {
  sys::MemFileSystem fs;
  fs.Put("/log.csv", bytes);
  IngestOptions options;
  options.lang = lang;
  const auto r = OpenFile(&fs, "/log.csv", options);
  EXPECT_FALSE(r.ok());
  return r.ok() ? "" : r.status().message();
}

TEST(Refusal, OfAnEmptyFile) {
  EXPECT_THAT(RefusalIn(Lang::kEn, ""), HasSubstr("the file is empty"));
  EXPECT_THAT(RefusalIn(Lang::kZh, ""), AllOf(HasSubstr("文件为空"), Not(HasSubstr("empty"))));
}

TEST(Refusal, OfCompressedDataThatIsCutBeforeTheFirstLineIsNotCalledEmpty) {
  const std::string zstd("\x28\xB5\x2F\xFD\x04\x58\x61\x00\x00", 9);  // a frame header and no whole block
  EXPECT_THAT(RefusalIn(Lang::kEn, zstd), AllOf(HasSubstr("cut off or damaged"), Not(HasSubstr("empty"))));
}

TEST(Refusal, OfHeadingsAloneNamesTheCommandThatExplains) {
  const std::string text = "timestamp,index,utilization.gpu [%]\n";
  EXPECT_THAT(RefusalIn(Lang::kEn, text),
              AllOf(HasSubstr("no row that can be read"), HasSubstr("sawbill diagnose --explain-format")));
  EXPECT_THAT(RefusalIn(Lang::kZh, text), HasSubstr("没有可读取的行"));
}

TEST(Refusal, OfTimesThatCannotBeReadNamesTheColumnAndTheFirstOfThem) {
  for (const char* time :
       {"10:00:00", "5:00:12 PM", "02/12/26 10:00:00", "2026-12-02 half past ten", "2026-13-02 10:00:00"}) {
    const std::string cell = std::string("0,\"") + time + "\",87 %\n";
    const std::string log = "index,time,utilization.gpu [%]\n" + cell + "0,11:11:11,88 %\n";
    EXPECT_THAT(RefusalIn(Lang::kEn, log),
                AllOf(HasSubstr("the time in column 2 cannot be read: '" + std::string(time) + "'"),
                      HasSubstr("date -u +%FT%TZ"), HasSubstr("--tz")));
    EXPECT_THAT(RefusalIn(Lang::kZh, log), HasSubstr("第 2 列的时间无法读取：“" + std::string(time) + "”"));
  }
}

TEST(Refusal, OfRowsWhoseTimeIsFineSpeaksOfNoTime) {
  EXPECT_THAT(RefusalIn(Lang::kEn, "timestamp,index,utilization.gpu [%]\n2026-12-02 10:00:00,0\n"),
              AllOf(HasSubstr("no row that can be read"), Not(HasSubstr("the time in column"))));
}

TEST(Refusal, SaysWhatStoodThereInWordsAndNotInNamesOfCounters) {
  const std::string text = "timestamp,index,utilization.gpu [%]\nnothing here is a row\n";
  EXPECT_THAT(RefusalIn(Lang::kEn, text), AllOf(Not(HasSubstr("foreign_text")), Not(HasSubstr("bad_row"))));
}

TEST(Refusal, OfAnUnknownFileShowsHowItBegins) {
  EXPECT_THAT(RefusalIn(Lang::kEn, "Dear diary,\n"), HasSubstr("it begins with \"Dear diary,\""));
  EXPECT_THAT(RefusalIn(Lang::kZh, "Dear diary,\n"), AllOf(HasSubstr("无法识别"), HasSubstr("可读取")));
}

TEST(Refusal, OfTablesOfOthersWhoseValuesOnlyLookLikeReadings) {
  for (const char* text :
       {"timestamp,accuracy,precision\n2026-03-02 10:00:00,95 %,40 %\n2026-03-02 10:00:01,95 %,40 %\n",
        "timestamp,step,loss,lr,gpu\n2026-03-02 10:00:00,0,3.2,0.001,0\n2026-03-02 10:00:01,1,3.1,0.001,0\n",
        "\"Time\",\"GPU 0\",\"GPU 1\"\n2026-03-02 10:00:00,90%,5%\n2026-03-02 10:00:15,90%,5%\n",
        "timestamp,cpu_util,mem_used_mb\n2026-03-02 10:00:00,95,60000\n2026-03-02 10:00:01,95,60000\n"})
    EXPECT_THAT(Refusal(text), HasSubstr("not a telemetry file that is known")) << text;
}

TEST(Delimiters, SemicolonsOfASpreadsheetAreReadWithItsDecimalCommas) {
  const auto r = ReadText("timestamp;gpu;sm_util;power_w\n1772413200;0;95,5;300\n1772413201;0;12,25;300\n");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "95.5 12.25");
}

TEST(Delimiters, TabsAreRead) {
  const auto r = ReadText("timestamp\tgpu\tsm_util\n1772413200\t0\t95\n1772413200\t1\t12\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "12");
}

TEST(Delimiters, AreSeenInPackedFilesToo) {
  const std::string table = "timestamp;index;utilization.gpu [%]\n1772366400,5;0;37,5\n1772366401,5;0;40\n";
  for (const auto& packed : {*sys::CompressGzip(table), *sys::CompressZstd(table)})
    EXPECT_EQ(Values(ReadText(packed), 0, model::GpuMetric::kSmUtil), "37.5 40");
}
TEST(Delimiters, OfAFileThatIsNoTableAreLeftAsTheyAre) {
  EXPECT_THAT(RefusalIn(Lang::kEn, "a;b;c\nd;e;f\n"), HasSubstr("\"a;b;c\""));
  EXPECT_THAT(RefusalIn(Lang::kEn, "a\tb\n"), Not(HasSubstr("?")));
}

}  // namespace
}  // namespace sawbill::ingest
