// SPDX-License-Identifier: Apache-2.0
// What a user may name instead of a file: several files, folders, archives, patterns, stdin. And `convert`.
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

}  // namespace
}  // namespace sawbill::app
