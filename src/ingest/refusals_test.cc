// SPDX-License-Identifier: Apache-2.0
// What is said of files that cannot be read, in both languages, and tables whose cells are parted by something else.
#include <gmock/gmock.h>

#include "base/text.h"
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

TEST(Refusal, OfUnixTimesOfTooFewDigitsSaysHowFewAndHowToSaveThem) {
  const std::string log = "timestamp,gpu,util\n1.793696e+09,0,95\n1.793696e+09,0,96\n";
  EXPECT_THAT(RefusalIn(Lang::kEn, log),
              AllOf(HasSubstr("column 1"), HasSubstr("'1.793696e+09' stands for any of 1000 s"),
                    HasSubstr("float_format='%.3f'")));
  EXPECT_THAT(RefusalIn(Lang::kZh, log), HasSubstr("位数太少"));
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

/// Three words of small Latin letters in a row, one blank between them: an English sentence. Commands and names within
/// backquotes, quotes or brackets are none.
std::string EnglishWithin(const std::string& text) {
  std::string plain;
  char closing = 0;
  for (const char c : text) {
    if (closing != 0) {
      closing = c == closing ? '\0' : closing;
      continue;
    }
    closing = c == '`' ? '`' : c == '\'' ? '\'' : c == '(' ? ')' : '\0';
    plain += closing != 0 ? '.' : c;
  }
  std::string run;
  size_t words = 0;
  for (const std::string_view part : Split(plain, ' ')) {
    const bool word =
        part.size() > 1 && std::all_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    run = word ? run + (words == 0 ? "" : " ") + std::string(part) : "";
    words = word ? words + 1 : 0;
    if (words == 3) return run;
  }
  return "";
}

TEST(Refusal, TheFinderOfEnglishFindsIt) {
  EXPECT_EQ(EnglishWithin("log.csv: two writers in one file"), "two writers in");
  EXPECT_EQ(EnglishWithin("log.csv：一个文件有两个写入者；请使用 `date -u one two three`"), "");
}

TEST(Refusal, NoneIsEnglishOnly) {
  std::string many = "timestamp,uuid,utilization.gpu [%]\n", fro = "timestamp,utilization.gpu [%]\n",
              heads = "timestamp,index,utilization.gpu [%],memory.used [MiB]\n";
  for (int i = 0; i < 4200; ++i) many += fmt::format("2026-12-02 10:00:00,GPU-{:08x},5 %\n", i + 1);
  // Two writers, one behind the other: of two cards each, and with columns in another order.
  for (const int late : {0, 5}) {
    for (int i = 0; i < 100; ++i) {
      for (int k = 0; k < 2; ++k) fro += fmt::format("{}.{:03},{} %\n", 1764669600 + 10 * i + late, 5 * k, 50 * k);
    }
    if (late > 0) heads += "timestamp,index,memory.used [MiB],utilization.gpu [%]\n";
    for (int i = 0; i < 100; ++i)
      heads += fmt::format("{},0,{}\n", 1764669600 + 10 * i + late, late > 0 ? "7 MiB,5 %" : "5 %,7 MiB");
  }
  const std::string files[] = {"", "hello\n", "timestamp,index,utilization.gpu [%]\n", many, fro, heads};
  for (const std::string& bytes : files) {
    const std::string refusal = RefusalIn(Lang::kZh, bytes);
    EXPECT_EQ(EnglishWithin(refusal), "") << refusal;
  }
  EXPECT_THAT(RefusalIn(Lang::kEn, fro), HasSubstr("two writers in one file (time runs to and fro), and no column"));
  EXPECT_THAT(RefusalIn(Lang::kZh, fro), HasSubstr("一个文件有两个写入者（时间来回跳动）"));
  EXPECT_THAT(RefusalIn(Lang::kEn, heads), HasSubstr("two writers with different headings"));
  EXPECT_THAT(RefusalIn(Lang::kZh, heads), HasSubstr("表头不同而列数相同"));
  EXPECT_THAT(RefusalIn(Lang::kEn, many), HasSubstr("column uuid names more than 4096 cards"));
  EXPECT_THAT(RefusalIn(Lang::kZh, many), HasSubstr("uuid 列中的不同值超过 4096 个"));
}

TEST(Refusals, ADocumentOfManyTablesIsNoLog) {
  std::string text;
  const char* names[] = {"index",       "count",           "utilization.gpu", "utilization.memory", "memory.used",
                         "memory.free", "temperature.gpu", "power.draw",      "clocks.sm",          "name",
                         "uuid"};
  for (const char* name : names)
    text += std::string("# $ nvidia-smi --query-gpu\ntimestamp, ") + name + "\n2026/12/02 10:00:00.000, 1\n";
  EXPECT_THAT(Refusal(text), HasSubstr("11 different heading lines"));
}

}  // namespace
}  // namespace sawbill::ingest
