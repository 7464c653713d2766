// SPDX-License-Identifier: Apache-2.0
// What a user may name instead of a file: several files, folders, archives, patterns, stdin. And `convert`.
#include <nlohmann/json.hpp>

#include "app/cli_fixture.h"
#include "base/text.h"

namespace sawbill::app {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A log of card `index` for `n` seconds from 2026-03-01 `hour`:00 UTC.
std::string CardLog(int index, int n, int hour = 12, const std::string& uuid = "") {
  std::string out = "timestamp,index,uuid,utilization.gpu [%],memory.used [MiB]\n";
  for (int i = 0; i < n; ++i)
    out += fmt::format("2026/03/01 {:02}:{:02}:{:02}.000, {}, {}, 95 %, 4000 MiB\n", hour, i / 60, i % 60, index,
                       uuid.empty() ? fmt::format("GPU-{}{}", hour, index) : uuid);
  return out;
}
constexpr const char* kHostDay =
    "timestamp,cpu_count,cpu_util\n1772366400.000,16,50.0\n1772366410.000,16,51.0\n1772366420.000,16,52.0\n";

class InputsTest : public CliTest {
 protected:
  size_t Receipts() const {
    size_t n = 0;
    for (size_t at = Out().find("SAWBILL "); at != std::string::npos; at = Out().find("SAWBILL ", at + 1)) ++n;
    return n;
  }
};

TEST_F(InputsTest, ALogForEachCardIsOneReceipt) {
  fs_.Put("/l/0.csv", CardLog(0, 600));
  fs_.Put("/l/1.csv", CardLog(1, 600));
  EXPECT_EQ(Run({"report", "/l/0.csv", "/l/1.csv", "--price", "6"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_THAT(Out(), AllOf(HasSubstr("2 × "), HasSubstr("/l/0.csv, /l/1.csv")));
  EXPECT_THAT(Err(), HasSubstr("read together as one recording: /l/0.csv, /l/1.csv"));
}

TEST_F(InputsTest, AGpuLogAndAHostLogAreOneRecording) {
  fs_.Put("/l/gpu.csv", CardLog(0, 600));
  fs_.Put("/l/host.csv", kHostDay);
  EXPECT_EQ(Run({"report", "/l/gpu.csv", "/l/host.csv"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_THAT(Out(), Not(HasSubstr("no host data")));
}

TEST_F(InputsTest, TheFilesOfADataFolderNamedOneByOneAreTheFolder) {
  EXPECT_EQ(Run({"convert", "/logs/gpu.csv", "-o", "/made"}), 0) << Err();
  fs_.Put("/made/run-2026-03-01.csv",
          "timestamp,run,job,user,project,node,gpus,state\n1772366401.000,r9,bert,li,p,,0,start\n");
  fs_.Put("/made/event-2026-03-01.csv", "timestamp,kind,gpu,detail\n1772366402.000,xid,0,code=79\n");
  const auto from_total = [&](const std::string& what) {
    EXPECT_EQ(Run({"report", what, "--price", "NVIDIA TEST 8GB=6", "--by", "job"}), 0) << Err();
    EXPECT_EQ(Receipts(), 1U);
    return Out().substr(Out().find("1 × NVIDIA TEST 8GB"));
  };
  EXPECT_EQ(from_total("/made/*.csv"), from_total("/made"));
}

TEST_F(InputsTest, RunsOfDifferentTimesGetAReceiptEachInTheOrderNamed) {
  fs_.Put("/l/late.csv", CardLog(0, 600, 18));
  fs_.Put("/l/early.csv", CardLog(0, 600, 6));
  EXPECT_EQ(Run({"report", "/l/late.csv", "/l/early.csv"}), 0) << Err();
  EXPECT_EQ(Receipts(), 2U);
  EXPECT_LT(Out().find("1 of 2: /l/late.csv"), Out().find("2 of 2: /l/early.csv"));
  EXPECT_EQ(Run({"report", "--format", "json", "/l/late.csv", "/l/early.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("holds one recording"));
}

TEST_F(InputsTest, OneFileThatCannotBeReadDoesNotCostTheOthers) {
  fs_.Put("/l/notes.txt", "call the vendor\n");
  EXPECT_EQ(Run({"report", "/logs/gpu.csv", "/l/notes.txt", "/l/missing.csv"}), 2);
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_THAT(Err(), AllOf(HasSubstr("notes.txt"), HasSubstr("/l/missing.csv: no such file or folder")));
}

/// What `pmon -o DT` prints for one process on card 0, one row a second from 12:00:00.
std::string ProcessLog(int n) {
  std::string out =
      "#Date       Time        gpu        pid   type     sm    mem    command\n"
      "#YYYYMMDD   HH:MM:SS    Idx          #    C/G      %      %    name\n";
  for (int i = 0; i < n; ++i)
    out += fmt::format(" 20260301   12:{:02}:{:02}      0       4242     C     90     20    python\n", i / 60, i % 60);
  return out;
}

TEST_F(InputsTest, ProcessesWithoutAnyReadingOfACardAreRefused) {
  fs_.Put("/l/pmon.txt", ProcessLog(600));
  EXPECT_EQ(Run({"report", "/l/pmon.txt", "--price", "6"}), 2);
  EXPECT_EQ(Receipts(), 0U);
  EXPECT_THAT(Err(), AllOf(HasSubstr("/l/pmon.txt: 600 rows of processes, but no reading of a card"),
                           HasSubstr("nvidia-smi dmon -s pucmt -o DT")));
  EXPECT_EQ(Run({"report", "/l/pmon.txt", "--lang", "zh"}), 2);
  EXPECT_THAT(Err(), HasSubstr("/l/pmon.txt：有 600 行进程，但没有显卡读数"));
}

TEST_F(InputsTest, ProcessesBesideALogOfTheirCardAreRead) {
  fs_.Put("/l/pmon.txt", ProcessLog(600));
  fs_.Put("/l/gpu.csv", CardLog(0, 600));
  EXPECT_EQ(Run({"report", "/l/pmon.txt", "/l/gpu.csv", "--price", "6"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_EQ(Run({"convert", "/l/pmon.txt", "/l/gpu.csv", "-o", "/both"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("600"));
}

TEST_F(InputsTest, TheSameFileTwiceIsOne) {
  EXPECT_EQ(Run({"report", "/logs/gpu.csv", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
}

TEST_F(InputsTest, AFolderOfForeignLogsIsReadAndWhatIsNoneIsSaid) {
  fs_.Put("/l/gpu0.csv", CardLog(0, 600));
  fs_.Put("/l/gpu1.csv", CardLog(1, 600));
  fs_.Put("/l/README.txt", "about these logs\n");
  fs_.Put("/l/empty.log", "");
  fs_.Put("/l/.hidden", "x");
  EXPECT_EQ(Run({"report", "/l"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_THAT(Err(), AllOf(HasSubstr("left out: "), HasSubstr("README.txt"), Not(HasSubstr("hidden"))));
}

TEST_F(InputsTest, SubfoldersAreNodesSoEqualIndicesAreTwoCards) {
  fs_.Put("/l/n1/gpu.csv", CardLog(0, 600, 12, "[N/A]"));
  fs_.Put("/l/n2/gpu.csv", CardLog(0, 600, 12, "[N/A]"));
  EXPECT_EQ(Run({"report", "/l", "--by", "node"}), 0) << Err();
  EXPECT_EQ(Receipts(), 1U);
  EXPECT_THAT(Out(), AllOf(HasSubstr("2 × "), HasSubstr("n1"), HasSubstr("n2")));
}

TEST_F(InputsTest, AFolderWithoutTelemetrySaysWhatWasSeen) {
  fs_.Put("/l/a.txt", "nothing\n");
  EXPECT_EQ(Run({"report", "/l"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("/l: none of its files could be read"), HasSubstr("a.txt")));
}

TEST_F(InputsTest, APatternThatTheShellDidNotExpand) {
  fs_.Put("/l/gpu0.csv", CardLog(0, 600));
  fs_.Put("/l/gpu1.csv", CardLog(1, 600));
  EXPECT_EQ(Run({"report", "/l/gpu*.csv"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("2 × "));
  EXPECT_EQ(Run({"report", "/l/tpu*.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("no file matches /l/tpu*.csv"));
}

TEST_F(InputsTest, StdinIsReadFromAPipeOnly) {
  EXPECT_EQ(Run({"report", "-"}), 2);
  EXPECT_THAT(Err(), HasSubstr("reads a recording from a pipe"));
  env_.read_stdin = [] { return SmiLog(600); };
  EXPECT_EQ(Run({"report", "-"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("stdin (nvidia-smi csv)"));
  EXPECT_EQ(Run({"diagnose", "--explain-format", "-"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("nvidia-smi csv"));
  env_.read_stdin = [] { return std::string(); };
  EXPECT_EQ(Run({"report", "-"}), 2);
  EXPECT_THAT(Err(), HasSubstr("nothing came in on stdin"));
}

TEST_F(InputsTest, EachFileOfAFolderIsExplained) {
  fs_.Put("/l/gpu0.csv", CardLog(0, 600));
  fs_.Put("/l/notes.txt", "nothing\n");
  EXPECT_EQ(Run({"diagnose", "--explain-format", "/l"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("=== /l/gpu0.csv"), HasSubstr("nvidia-smi csv"), HasSubstr("=== /l/notes.txt")));
}

TEST_F(InputsTest, ConvertedFilesGiveTheSameReceipt) {
  const auto bill = [&](const std::string& path) {
    EXPECT_EQ(Run({"report", path, "--price", "6", "--format", "json"}), 0) << Err();
    const size_t at = Out().find("\"bill\"");
    return Out().substr(at, Out().find("\"findings\"") - at);
  };
  const std::string before = bill("/logs/gpu.csv");
  EXPECT_EQ(Run({"convert", "/logs/gpu.csv", "-o", "/made"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("/made: 600 card samples, 0 host samples, 0 process rows, 2026-03-01T12:00:00.000Z"));
  EXPECT_THAT(fs_.Get("/made/gpu-2026-03-01.csv"), HasSubstr("1772366400.000,0,3,"));
  EXPECT_EQ(bill("/made"), before);
  EXPECT_EQ(Run({"convert", "/logs/gpu.csv", "-o", "/made"}), 2);
  EXPECT_THAT(Err(), HasSubstr("holds day files already"));
}

TEST_F(InputsTest, ConvertKeepsNodesApart) {
  fs_.Put("/l/n1/gpu.csv", CardLog(0, 60, 12, "[N/A]"));
  fs_.Put("/l/n2/gpu.csv", CardLog(0, 60, 12, "[N/A]"));
  EXPECT_EQ(Run({"convert", "/l", "-o", "/made"}), 0) << Err();
  EXPECT_TRUE(fs_.Exists("/made/n1/gpu-2026-03-01.csv"));
  EXPECT_TRUE(fs_.Exists("/made/n2/gpu-2026-03-01.csv"));
}

TEST_F(InputsTest, ConvertDoesNotMixWhatIsSeparate) {
  fs_.Put("/l/late.csv", CardLog(0, 600, 18));
  fs_.Put("/l/early.csv", CardLog(0, 600, 6));
  EXPECT_EQ(Run({"convert", "/l/late.csv", "/l/early.csv", "-o", "/made"}), 2);
  EXPECT_THAT(Err(), HasSubstr("2 separate recordings"));
  EXPECT_EQ(Run({"convert", "/l/late.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("sawbill convert FILE -o FOLDER"));
}

size_t Times(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST_F(InputsTest, WhatCanBeReadIsListedOnceHoweverManyFilesAreLeftOut) {
  fs_.Put("/l/gpu0.csv", CardLog(0, 600));
  for (const char* name : {"a", "b", "c"}) fs_.Put(std::string("/l/") + name + ".txt", "call the vendor\n");
  for (const auto& [lang, list] : {std::pair{"en", "Accepted: logs of nvidia-smi"}, {"zh", "可读取：nvidia-smi"}}) {
    EXPECT_EQ(Run({"report", "/l", "--lang", lang}), 0) << Err();
    EXPECT_EQ(Times(Err(), list), 1U) << Err();
    for (const char* name : {"a.txt", "b.txt", "c.txt"}) EXPECT_THAT(Err(), HasSubstr(name));
    EXPECT_EQ(Run({"report", "/l/a.txt", "/l/b.txt", "/l/gpu0.csv", "--lang", lang}), 2);
    EXPECT_EQ(Times(Err(), list), 1U) << Err();
  }
}

/// A member of a tar archive (ustar).
std::string TarMember(const std::string& name, const std::string& content) {
  std::string head(512, '\0');
  head.replace(0, name.size(), name);
  head.replace(100, 7, "0000644");
  head.replace(124, 11, fmt::format("{:011o}", content.size()));
  head[156] = '0';
  head.replace(257, 5, "ustar");
  head.replace(263, 2, "00");
  head.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  head.replace(148, 7, fmt::format("{:06o}", sum) + std::string(1, '\0'));
  return head + content + std::string((512 - content.size() % 512) % 512, '\0');
}

TEST_F(InputsTest, MembersOfAnArchiveAreNamedWithTheArchive) {
  fs_.Put("/l/logs.tar", TarMember("host1/gpu.csv", CardLog(0, 600)) + TarMember("host2/gpu.csv", CardLog(1, 600)) +
                             TarMember("host1/notes.txt", "call the vendor\n") + std::string(1024, '\0'));
  EXPECT_EQ(Run({"report", "/l/logs.tar"}), 0) << Err();
  EXPECT_THAT(Err(), HasSubstr("left out: /l/logs.tar:host1/notes.txt: not a telemetry file"));
  EXPECT_THAT(Err(), HasSubstr("read together as one recording: /l/logs.tar:host1/gpu.csv, /l/logs.tar:host2/gpu.csv"));
  EXPECT_THAT(Out(), HasSubstr("/l/logs.tar:host1/gpu.csv"));
}

TEST_F(InputsTest, MoreNamesAndMoreClashesThanAreShownAreCounted) {
  for (int i = 0; i < 6; ++i) fs_.Put(fmt::format("/six/{}.csv", i), CardLog(i, 600));
  EXPECT_EQ(Run({"report", "/six"}), 0) << Err();
  EXPECT_THAT(Err(), HasSubstr("/six/0.csv, /six/1.csv, /six/2.csv, and 3 more"));
  // Four logs of a card 0 at one time that no uuid tells apart: six pairs.
  for (int i = 0; i < 4; ++i) {
    std::string log = CardLog(0, 600, 12, "[N/A]");
    for (size_t at = log.find("95 %"); at != std::string::npos; at = log.find("95 %", at + 1))
      log.replace(at, 2, std::to_string(90 + i));
    fs_.Put(fmt::format("/clash/{}.csv", i), log);
  }
  EXPECT_EQ(Run({"report", "/clash"}), 0) << Err();
  EXPECT_EQ(Times(Err(), "both hold a card 0 at the same time"), 3U) << Err();
  EXPECT_THAT(Err(), HasSubstr("3 more pairs of files clash in the same way"));
  EXPECT_EQ(Run({"report", "/clash", "--lang", "zh"}), 0) << Err();
  EXPECT_THAT(Err(), HasSubstr("另有 3 对文件"));
}

TEST_F(InputsTest, ConvertKeepsACardThatGaveNoReading) {
  std::string log = "timestamp, index, uuid, name, utilization.gpu [%], power.draw [W]\n";
  for (int i = 0; i < 600; ++i) {
    for (int k = 0; k < 2; ++k)
      log += fmt::format("2026/03/01 12:{:02}:{:02}.000, {}, GPU-{}, NVIDIA A40, {}\n", i / 60, i % 60, k, k,
                         k == 0 ? "95 %, 250.00 W" : "[N/A], [N/A]");
  }
  fs_.Put("/l/two.csv", log);
  const auto receipt = [&](const char* what) {
    EXPECT_EQ(Run({"report", what, "--price", "10", "--format", "json"}), 0) << Err();
    return nlohmann::json::parse(Out());
  };
  const auto before = receipt("/l/two.csv");
  EXPECT_EQ(Run({"convert", "/l/two.csv", "-o", "/made"}), 0) << Err();
  const auto after = receipt("/made");
  ASSERT_EQ(after["gpus"].size(), 2U);
  EXPECT_EQ(after["gpus"][1]["uuid"], "GPU-1");
  EXPECT_EQ(after["gpus"][1]["name"], "NVIDIA A40");
  EXPECT_EQ(after["gpus"][1]["hours"], before["gpus"][1]["hours"]);
  EXPECT_NEAR(after["bill"]["cost"].get<double>(), before["bill"]["cost"].get<double>(), 1e-6);
  EXPECT_NEAR(after["bill"]["cost"].get<double>(), 2 * 10 * 599.0 / 3600, 1e-6);
  EXPECT_EQ(after["bill"]["ledger"], before["bill"]["ledger"]);
}

}  // namespace
}  // namespace sawbill::app
