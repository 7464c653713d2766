// SPDX-License-Identifier: Apache-2.0
// Times in front of the lines (moreutils' ts) and in lines between the samples: every reader gets them, and what was
// assumed is said.
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using testing::HasSubstr;
using testing::Not;

constexpr TimeMs kDec3 = 1'796'256'000'000;  // 2026-12-03T00:00:00Z

Result<model::Recording> TryStamped(const std::string& text, TimeMs modified_ms, const std::string& zone = "UTC") {
  sys::MemFileSystem fs;
  fs.SetNow(modified_ms);
  fs.Put("/log.txt", text);
  IngestOptions options;
  options.tz = *TimeZone::Load(zone);
  return ReadFile(&fs, "/log.txt", options);
}
model::Recording Stamped(const std::string& text, TimeMs modified_ms = kDec3, const std::string& zone = "UTC") {
  auto r = TryStamped(text, modified_ms, zone);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? std::move(r).value() : model::Recording{};
}

/// "time=utilisation ..." of one card.
std::string Seen(const model::Recording& r, size_t gpu = 0) {
  std::string out;
  if (gpu >= r.gpus.size()) return "no such card";
  for (size_t i = 0; i < r.gpus[gpu].size(); ++i) {
    out += (i > 0 ? " " : "") + FormatRfc3339(r.gpus[gpu].t_ms[i]).substr(0, 19) + "=" +
           FormatShortest(static_cast<double>(r.gpus[gpu].At(GpuMetric::kSmUtil, i)));
  }
  return out;
}
std::string Notes(const model::Recording& r) { return Join(r.notes, "\n"); }

/// `text` with `stamp` in front of each of its lines, as `| ts` puts it.
std::string Ts(const std::string& stamp, const std::string& text) {
  std::string out;
  for (const std::string_view line : Split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    out.append(stamp).append(" ").append(line).append("\n");
  }
  return out;
}

std::string Table(const std::string& util) {
  return "+-----------------------------------------------------------------------------------------+\n"
         "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |\n"
         "+-----------------------------------------+------------------------+----------------------+\n"
         "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
         "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
         "|=========================================+========================+======================|\n"
         "|   0  NVIDIA A40                     On  |   00000000:31:00.0 Off |                    0 |\n"
         "|  0%   27C    P0             24W /  300W |       0MiB /  46068MiB |     " +
         util +
         "%      Default |\n"
         "+-----------------------------------------+------------------------+----------------------+\n\n";
}
std::string Query(const std::string& util) {
  return "\n==============NVSMI LOG==============\n\nDriver Version                            : 580.95.05\n"
         "Attached GPUs                             : 1\nGPU 00000000:31:00.0\n"
         "    Product Name                          : NVIDIA A40\n    Utilization\n"
         "        GPU                               : " +
         util + " %\n\n";
}
const std::string kDmon = "# gpu    pwr  gtemp     sm\n# Idx      W      C      %\n";
const std::string kUtils = "2026-12-02T17:00:12=97 2026-12-02T17:00:17=3";

TEST(StampsInFront, OfTables) {
  const auto r = Stamped(Ts("Dec 02 17:00:12", Table("97")) + Ts("Dec 02 17:00:17", Table("3")));
  EXPECT_EQ(r.format, "nvidia-smi table");
  EXPECT_EQ(Seen(r), kUtils);
  EXPECT_THAT(Notes(r), HasSubstr("The times were taken from the stamps in front of the lines (Dec 02 17:00:12)."));
  EXPECT_THAT(Notes(r), HasSubstr("The stamps carry no year; 2026 was taken for the last of them, because the file was "
                                  "last written at 2026-12-03T00:00:00.000Z."));
  EXPECT_EQ(Seen(Stamped(Ts("2026-12-02T17:00:12+0000", Table("97")) + Ts("2026-12-02T17:00:17+0000", Table("3")))),
            kUtils);
}

TEST(StampsInFront, OfATableThatHasItsOwnTimeAreTakenOff) {
  const auto r = Stamped(Ts("Dec 02 17:00:14", "Wed Dec  2 17:00:12 2026\n" + Table("97")) +
                         Ts("Dec 02 17:00:19", "Wed Dec  2 17:00:17 2026\n" + Table("3")));
  EXPECT_EQ(Seen(r), kUtils);
  EXPECT_THAT(Notes(r), Not(HasSubstr("stamps")));
}

TEST(StampsInFront, OfQueriesMonitorsAndCsv) {
  EXPECT_EQ(Seen(Stamped(Ts("Dec 02 17:00:12", Query("97")) + Ts("Dec 02 17:00:17", Query("3")))), kUtils);
  EXPECT_EQ(Seen(Stamped(Ts("Dec 02 17:00:11", kDmon) + Ts("Dec 02 17:00:12", "    0     97     44     97\n") +
                         Ts("Dec 02 17:00:17", "    0     97     44      3\n"))),
            kUtils);
  EXPECT_EQ(Seen(Stamped(Ts("Dec 02 17:00:11", "index, utilization.gpu [%], memory.used [MiB]\n") +
                         Ts("Dec 02 17:00:12", "0, 97 %, 1000 MiB\n1, 5 %, 7 MiB\n") +
                         Ts("Dec 02 17:00:17", "0, 3 %, 1000 MiB\n1, 5 %, 7 MiB\n"))),
            kUtils);
  std::string bare, wanted;
  for (int i = 0; i < 30; ++i) {
    const std::string stamp = fmt::format("17:00:{:02}", i);
    bare += Ts("[2026-12-02 " + stamp + "]", fmt::format("{} %, {} MiB\n", 50 + i, 900 + i));
    wanted += fmt::format("{}2026-12-02T{}={}", i > 0 ? " " : "", stamp, 50 + i);
  }
  EXPECT_EQ(Seen(Stamped(bare)), wanted);
}

TEST(StampsInFront, OfRowsWithTheirOwnTimesAreTakenOff) {
  const auto r =
      Stamped(Ts("Dec 02 17:00:13", "timestamp, index, utilization.gpu [%]\n2026/12/02 17:00:12.000, 0, 97 %\n") +
              Ts("Dec 02 17:00:18", "2026/12/02 17:00:17.000, 0, 3 %\n"));
  EXPECT_EQ(Seen(r), kUtils);
  EXPECT_THAT(Notes(r), Not(HasSubstr("stamps")));
}

TEST(StampsInFront, AreLocalTimes) {
  EXPECT_EQ(
      Seen(Stamped(Ts("Dec 02 18:00:12", Table("97")) + Ts("Dec 02 18:00:17", Table("3")), kDec3, "Europe/Berlin")),
      kUtils);
}

TEST(StampsInFront, TheYearTurnsBetweenThem) {
  const std::string rows = Ts("Dec 31 23:59:55", Table("97")) + Ts("Jan  1 00:00:05", Table("3"));
  const std::string turn = "2026-12-31T23:59:55=97 2027-01-01T00:00:05=3";
  const TimeMs jan2 = 1'798'848'000'000;  // 2027-01-02T00:00:00Z
  EXPECT_EQ(Seen(Stamped(rows, jan2)), turn);
  EXPECT_EQ(Seen(Stamped(rows, jan2 + 300 * 86'400'000LL)), turn);
  // Written in January: the stamps of December are those of the year before.
  EXPECT_EQ(Seen(Stamped(Ts("Dec 02 17:00:12", Table("97")) + Ts("Dec 02 17:00:17", Table("3")), jan2)), kUtils);
  EXPECT_THAT(Seen(Stamped(Ts("Feb 29 17:00:12", Table("97")) + Ts("Feb 29 17:00:17", Table("3")), jan2)),
              HasSubstr("2024-02-29T17:00:17=3"));
}

TEST(StampsInFront, WithoutAYearAreRefusedWhereNothingTellsIt) {
  const auto r = TryStamped(Ts("Dec 02 17:00:12", Table("97")) + Ts("Dec 02 17:00:17", Table("3")), 0);
  ASSERT_FALSE(r.ok());
  EXPECT_THAT(r.status().message(), HasSubstr("its lines are stamped without a year (Dec 02 17:00:12)"));
  EXPECT_THAT(r.status().message(), HasSubstr("ts '%FT%T%z'"));
}

TEST(StampsBetween, OfEveryKindOfSample) {
  const std::string a = "=== 2026-12-02T17:00:12Z ===\n", b = "=== 2026-12-02T17:00:17Z ===\n";
  EXPECT_EQ(Seen(Stamped(a + Table("97") + b + Table("3"), 0)), kUtils);
  EXPECT_EQ(Seen(Stamped(a + Query("97") + b + Query("3"), 0)), kUtils);
  EXPECT_EQ(Seen(Stamped(kDmon + a + "    0     97     44     97\n" + b + "    0     97     44      3\n", 0)), kUtils);
  const std::string head = "index, utilization.gpu [%], memory.used [MiB]\n";
  const auto csv =
      Stamped(a + head + "0, 97 %, 1000 MiB\n1, 5 %, 7 MiB\n" + b + head + "0, 3 %, 1000 MiB\n1, 6 %, 7 MiB\n", 0);
  EXPECT_EQ(Seen(csv), kUtils);
  EXPECT_EQ(Seen(csv, 1), "2026-12-02T17:00:12=5 2026-12-02T17:00:17=6");
  EXPECT_THAT(Notes(csv), HasSubstr("The times were taken from the lines between the samples (2026-12-02T17:00:12Z)."));
}

TEST(StampsBetween, AsDateAndWatchPrintThem) {
  EXPECT_EQ(
      Seen(Stamped("Wed Dec  2 17:00:12 UTC 2026\n" + Query("97") + "Wed Dec  2 17:00:17 UTC 2026\n" + Query("3"))),
      kUtils);
  const std::string watch = "Every 5.0s: nvidia-smi                    node17: Wed Dec  2 17:00:";
  EXPECT_EQ(Seen(Stamped(watch + "12 2026\n\n" + Table("97") + watch + "17 2026\n\n" + Table("3"))), kUtils);
  EXPECT_EQ(Seen(Stamped("Time: 2026-12-02 17:00:12\n" + Table("97") + "Time: 2026-12-02 17:00:17\n" + Table("3"))),
            kUtils);
}

TEST(StampsInFront, AsContainersAndOtherToolsWriteThem) {
  EXPECT_EQ(Seen(Stamped(Ts("2026-12-02T17:00:12.000000001Z", Table("97")) +
                         Ts("2026-12-02T17:00:17.000000002Z", Table("3")))),
            kUtils);
  EXPECT_EQ(Seen(Stamped(Ts("1796230812.000000", Table("97")) + Ts("1796230817.000000", Table("3")))), kUtils);
  EXPECT_EQ(
      Seen(Stamped(Ts("[2026-12-02 17:00:11]", kDmon) + Ts("[2026-12-02 17:00:12]", "    0     97     44     97\n") +
                   Ts("[2026-12-02 17:00:17]", "    0     97     44      3\n"))),
      kUtils);
  std::string windows;
  for (const char c : Ts("Dec 02 17:00:12", Table("97")) + Ts("Dec 02 17:00:17", Table("3"))) {
    if (c == '\n') windows += '\r';
    windows += c;
  }
  EXPECT_EQ(Seen(Stamped(windows)), kUtils);
}

TEST(Stamps, AreBorneWhereTheTextIsCutOrChanged) {
  const std::string texts[] = {Ts("Dec 02 17:00:12", Table("97")) + Ts("Dec 02 17:00:17", Table("3")),
                               "=== 2026-12-02T17:00:12Z ===\n" + Query("97") + "=== 2026-12-02T17:00:17Z ===\n",
                               "timestamp,gpu0_util,gpu1_util\n22/12/2026 10:00:00,95,3\n22/12/2026 10:00:01,96,4\n"};
  for (const std::string& text : texts) {
    for (size_t at = 1; at < text.size(); at += 3) {
      for (const std::string& part : {text.substr(0, at), text.substr(at)}) {
        const auto r = TryStamped(part, kDec3);
        EXPECT_TRUE(r.ok() || r.status().message().size() > 20) << part;
      }
      std::string changed = text;
      changed[at] = "\0|\"{}[]#,:9\xFF\x1b "[at % 14];
      const auto r = TryStamped(changed, kDec3);
      EXPECT_TRUE(r.ok() || r.status().message().size() > 20) << changed;
    }
  }
}

TEST(Stamps, AreNotSeenInRowsAndInOtherText) {
  const auto r = Stamped(
      "timestamp, index, utilization.gpu [%]\n2026/12/02 17:00:12.000, 0, 97 %\n"
      "2026/12/02 17:00:17.000, 0, 3 %\n");
  EXPECT_EQ(Seen(r), kUtils);
  EXPECT_TRUE(Notes(r).find("stamps") == std::string::npos && Notes(r).find("lines between") == std::string::npos);
  const auto log =
      TryStamped(Ts("Dec 02 17:00:12", "step 1 loss 0.5\n") + Ts("Dec 02 17:00:17", "step 2 loss 0.4\n"), kDec3);
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.status().message(), HasSubstr("it begins with \"Dec 02 17:00:12 step 1 loss 0.5\""));
}

TEST(Stamps, APackedFileThatIsCutIsSaidToBe) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += Ts(fmt::format("Dec 02 17:{:02}:{:02}", i / 60, i % 60), Table(std::to_string(10 + i * 37 % 90)));
  }
  std::string packed = *sys::CompressGzip(text);
  packed.resize(packed.size() / 2);
  const auto r = Stamped(packed);
  EXPECT_EQ(Odds(r, model::Odd::kDamagedFile), 1);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_GT(r.gpus[0].size(), 20U);
}

}  // namespace
}  // namespace sawbill::ingest
