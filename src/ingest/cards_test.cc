// SPDX-License-Identifier: Apache-2.0
#include "ingest/cards.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::HasSubstr;

/// `samples` samples of `k` rows, `within` ms apart, one sample each `interval` ms; readings 10 * card.
std::string Log(size_t k, int samples, int within_ms, int interval_ms,
                const char* head = "timestamp, memory.used [MiB]\n") {
  std::string text = head;
  for (int s = 0; s < samples; ++s) {
    for (size_t g = 0; g < k; ++g) {
      text += FormatRfc3339(1'762'900'000'000LL + s * interval_ms + static_cast<int>(g) * within_ms) + ", " +
              std::to_string(10 * g) + " MiB\n";
    }
  }
  return text;
}

TEST(RowOrder, IsTheCardWhenNothingElseTells) {
  const auto r = ReadText(Log(8, 50, 14, 1000));
  ASSERT_EQ(r.gpus.size(), 8U);
  for (size_t g = 0; g < 8; ++g) {
    EXPECT_EQ(r.gpus[g].size(), 50U);
    EXPECT_EQ(r.gpus[g].card.gpu, std::to_string(g));
    EXPECT_EQ(r.gpus[g].At(GpuMetric::kMemUsedMb, 49), 10.0F * static_cast<float>(g));
  }
  EXPECT_EQ(Odds(r, Odd::kIndexInferred), 400);
}

TEST(RowOrder, ThatStandsAtOneTime) { EXPECT_EQ(ReadText(Log(4, 20, 0, 1000)).gpus.size(), 4U); }
TEST(RowOrder, With110MsBetweenRows) { EXPECT_EQ(ReadText(Log(2, 20, 110, 1000)).gpus.size(), 2U); }
TEST(RowOrder, OfOneSampleOnly) { EXPECT_EQ(ReadText(Log(8, 1, 5, 1000)).gpus.size(), 8U); }
TEST(RowOrder, OfTwoSamples) { EXPECT_EQ(ReadText(Log(8, 2, 5, 1000)).gpus.size(), 8U); }

TEST(RowOrder, OneCardStaysOneCard) {
  for (const int interval : {100, 1000, 60'000, 1'000'000}) {
    const auto r = ReadText(Log(1, 50, 0, interval));
    EXPECT_EQ(r.gpus.size(), 1U) << interval;
    EXPECT_EQ(Odds(r, Odd::kIndexInferred), 0) << interval;
  }
}

TEST(RowOrder, OneCardWithHolesStaysOneCard) {
  std::string text = "timestamp,utilization.gpu\n";
  int64_t t = 1762900000;
  for (int i = 0; i < 100; ++i) text += std::to_string(t += i % 7 == 0 ? 3600 : 5) + ",40\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].size(), 100U);
}

TEST(RowOrder, ASampleThatLostARowIsLeftOut) {
  std::string text = Log(4, 50, 3, 1000);
  const size_t line = text.find(", 20 MiB", text.size() / 2);
  const size_t from = text.rfind('\n', line) + 1;
  text.erase(from, text.find('\n', from) + 1 - from);
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 4U);
  for (size_t g = 0; g < 4; ++g) EXPECT_EQ(r.gpus[g].size(), 49U);
  EXPECT_EQ(Odds(r, Odd::kBadRow), 3);
}

TEST(RowOrder, ASampleCutAtTheEndKeepsItsRows) {
  std::string text = Log(4, 50, 3, 1000);
  text.erase(text.rfind('\n', text.size() - 2) + 1);
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 4U);
  EXPECT_EQ(r.gpus[0].size(), 50U);
  EXPECT_EQ(r.gpus[3].size(), 49U);
}

TEST(RowOrder, AlternatingFactsTellWhereTimesDoNot) {
  std::string text = "timestamp,memory.total [MiB],memory.used [MiB]\n";
  for (int i = 0; i < 40; ++i)
    text +=
        std::to_string(1762900000 + i) + "," + (i % 2 == 0 ? "24576" : "81559") + "," + std::to_string(i % 2) + "\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[1].card.memory_total_mb, 81559);
  EXPECT_EQ(r.gpus[1].At(GpuMetric::kMemUsedMb, 3), 1);
}

TEST(RowOrder, ThatCannotBeToldIsRefused) {
  std::string text = "timestamp,utilization.gpu\n";
  const int lengths[] = {2, 5, 3, 1, 4, 6, 2, 3, 5, 1, 7, 2};
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < lengths[i]; ++k) text += std::to_string(1762900000 + i) + ",40\n";
  }
  EXPECT_THAT(Refusal(text), HasSubstr("no column tells the card"));
}

/// Samples each 5 s with rows 3 ms apart; `counts` of cards, so many samples each. Card g reads 10 * g.
std::string Changing(const std::vector<size_t>& counts, int samples, int within_ms = 3) {
  std::string text = "timestamp,utilization.gpu,memory.used\n";
  int64_t t = 1'762'900'002'000LL;
  for (const size_t k : counts) {
    for (int s = 0; s < samples; ++s, t += 5000) {
      for (size_t g = 0; g < k; ++g) {
        text += FormatRfc3339(t + static_cast<int>(g) * within_ms) + "," + std::to_string(10 * g) + ",40123\n";
      }
    }
  }
  return text;
}

TEST(RowOrder, ANumberOfCardsThatChangesIsCountedByStretches) {
  for (const auto& counts :
       std::vector<std::vector<size_t>>{{2, 4}, {4, 3}, {8, 7}, {1, 2}, {2, 1}, {4, 1, 8}, {2, 3, 2}}) {
    for (const int within_ms : {0, 3, 60}) {
      const auto r = ReadText(Changing(counts, 40, within_ms));
      const size_t most = *std::max_element(counts.begin(), counts.end());
      ASSERT_EQ(r.gpus.size(), most) << within_ms;
      for (size_t g = 0; g < most; ++g) {
        size_t samples = 0;
        for (const size_t k : counts) samples += g < k ? 40 : 0;
        EXPECT_EQ(r.gpus[g].size(), samples) << within_ms;
        EXPECT_EQ(r.gpus[g].At(GpuMetric::kSmUtil, 5), 10.0F * static_cast<float>(g));
      }
      EXPECT_THAT(r.notes, testing::Contains(HasSubstr("the number of cards changed")));
    }
  }
}

TEST(RowOrder, AFewSamplesOfTheOtherNumberAtTheEndAreNotLost) {
  std::string text = Changing({8}, 400);
  const std::string tail = Changing({7}, 20);
  const auto shifted = [](std::string rows) {  // a day later
    for (size_t at = rows.find("2025-11-11T"); at != std::string::npos; at = rows.find("2025-11-11T"))
      rows[at + 9] = '2';
    return rows.substr(rows.find('\n') + 1);
  };
  text += shifted(tail);
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 8U);
  EXPECT_EQ(r.gpus[6].size(), 420U);
  EXPECT_EQ(r.gpus[7].size(), 400U);
}

TEST(RowOrder, RowsThatHardlyDifferInTimeAreNeverOneCard) {
  std::string text = "timestamp,utilization.gpu\n";
  const int lengths[] = {2, 5, 3, 1, 4, 6, 2, 3, 5, 1, 7, 2};
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < lengths[i]; ++k) text += FormatRfc3339(1'762'900'000'000LL + i * 5000 + k * 3) + ",40\n";
  }
  EXPECT_THAT(Refusal(text), HasSubstr("no column tells the card"));
}

TEST(RowOrder, AFastReaderThatStallsIsStillOneCard) {
  std::string text = "timestamp,utilization.gpu\n";
  int64_t t = 1'762'900'000'000LL;
  for (int i = 0; i < 600; ++i) text += FormatRfc3339(t += i % 17 == 3 || i % 29 == 0 ? 900 : 50) + ",40\n";
  EXPECT_EQ(ReadText(text).gpus.size(), 1U);
}

TEST(Columns, GpuIsTakenWhereIndexIsAlwaysZero) {
  std::string text = "timestamp,gpu,index,memory.used\n";
  for (int s = 0; s < 5; ++s) {
    for (int g = 0; g < 8; ++g)
      text +=
          "2025-09-08T17:26:5" + std::to_string(s) + "+08:00," + std::to_string(g) + ", 0, " + std::to_string(g) + "\n";
  }
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 8U);
  EXPECT_EQ(r.gpus[7].At(GpuMetric::kMemUsedMb, 0), 7);
  EXPECT_EQ(Odds(r, Odd::kIndexDisagrees), 35);
}

TEST(Columns, AnIndexThatIsZeroForAllGivesWayToRowOrder) {
  std::string text = "timestamp,index,memory.used\n";
  for (int s = 0; s < 20; ++s) {
    for (int g = 0; g < 4; ++g) text += std::to_string(1762900000 + s) + ",0," + std::to_string(g) + "\n";
  }
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus.size(), 4U);
  EXPECT_EQ(Odds(r, Odd::kIndexDisagrees), 80);
}

TEST(Columns, AUuidKeepsItsHistoryWhenIndicesMove) {
  const auto r = ReadText(
      "timestamp,index,uuid,utilization.gpu\n1762900000,0,GPU-a,1\n1762900000,1,GPU-b,2\n1762900000,2,GPU-c,3\n"
      "1762900001,0,GPU-a,1\n1762900001,1,GPU-c,3\n1762900002,0,GPU-a,1\n1762900002,1,GPU-c,3\n");
  ASSERT_EQ(r.gpus.size(), 3U);
  for (const auto& g : r.gpus) EXPECT_EQ(g.size(), g.card.uuid == "GPU-b" ? 1U : 3U) << g.card.uuid;
}

TEST(Columns, AUuidThatIsLoggedInOneHalfOnlyDoesNotSplitTheCard) {
  const auto r = ReadText(
      "timestamp,index,uuid,utilization.gpu\n1762903990,0,GPU-a,1\n1762903991,0,GPU-a,2\n"
      "timestamp,index,utilization.gpu\n1762903992,0,3\n1762903993,0,4\n");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].card.uuid, "GPU-a");
  EXPECT_EQ(Values(r, 0, model::GpuMetric::kSmUtil), "1 2 3 4");
}

TEST(Columns, AMaskedUuidIsNoIdentity) {
  const auto r = ReadText(
      "timestamp,index,uuid,utilization.gpu\n1762900000,0,GPU-00000000-0000-0000-0000-000000000000,1\n"
      "1762900000,1,GPU-00000000-0000-0000-0000-000000000000,2\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.uuid, "");
}

TEST(Columns, WhereOnlySomeUuidsAreMaskedTheOthersKeepTheirHistory) {
  // Card b falls off the bus, and c is counted anew: its index is now 1.
  std::string text = "timestamp,index,uuid,utilization.gpu\n";
  for (int i = 0; i < 20; ++i) {
    const std::string t = std::to_string(1762900000 + i);
    text += t + ",0,GPU-00000000-0000-0000-0000-000000000000,1\n";
    if (i < 10) text += t + ",1,GPU-b,2\n" + t + ",2,GPU-c,3\n";
    if (i >= 10) text += t + ",1,GPU-c,3\n";
  }
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 3U);
  for (const auto& g : r.gpus) {
    EXPECT_EQ(g.size(), g.card.uuid == "GPU-b" ? 10U : 20U) << g.card.uuid;
    const float value = g.card.uuid.empty() ? 1 : g.card.uuid == "GPU-b" ? 2 : 3;
    for (size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g.At(GpuMetric::kSmUtil, i), value);
  }
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("masked")));
}

TEST(Columns, AUuidThatTwoCardsBearTellsNeither) {
  const auto r = ReadText(
      "timestamp,index,uuid,utilization.gpu\n1762900000,0,GPU-a,1\n1762900000,1,GPU-a,2\n1762900001,0,GPU-a,1\n"
      "1762900001,1,GPU-a,2\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_NE(r.gpus[0].card.key(), r.gpus[1].card.key());
  EXPECT_EQ(Odds(r, Odd::kIndexDisagrees), 1);
}

TEST(Columns, AQuoteWithinAQuotedNameStandsOnce) {
  const auto r = ReadText(
      "timestamp,index,name,utilization.gpu\n1762900000,0,\"My \"\"big\"\" card\",1\n1762900001,0,\"My \"\"big\"\" "
      "card\",1\n");
  EXPECT_EQ(r.gpus[0].card.name, "My \"big\" card");
}

TEST(Columns, BusIdsTellCardsApart) {
  const auto r =
      ReadText("timestamp,pci.bus_id,utilization.gpu\n1762900000,00000000:17:00.0,1\n1762900000,00000000:65:00.0,2\n");
  EXPECT_EQ(r.gpus.size(), 2U);
}

TEST(Columns, NodesAreKeptApart) {
  const auto r = ReadText("timestamp,hostname,index,utilization.gpu\n1762900000,a,0,1\n1762900000,b,0,2\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[1].card.node, "b");
}

TEST(Columns, ElevenCardsAreInOrderOfTheirNumbers) {
  std::string text = "timestamp,gpu,sm_util\n";
  for (int g = 11; g >= 0; --g) text += "1762900000,GPU " + std::to_string(g) + ",1\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 12U);
  EXPECT_EQ(r.gpus[2].card.gpu, "2");
  EXPECT_EQ(r.gpus[11].card.gpu, "11");
}

TEST(Columns, ARowWhoseCardIsNotReadIsLeftOut) {
  const auto r = ReadText("timestamp,index,utilization.gpu\n1762900000,0,1\n1762900001,[N/A],2\n1762900002,0,3\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 3");
  EXPECT_EQ(Odds(r, Odd::kBadRow), 1);
}

TEST(CardLabel, ReadsNumbersInTheirManyForms) {
  EXPECT_EQ(CardLabel("0"), "0");
  EXPECT_EQ(CardLabel("GPU 3"), "3");
  EXPECT_EQ(CardLabel("cuda:1"), "1");
  EXPECT_EQ(CardLabel("0.2.0"), "0.2.0");
  EXPECT_EQ(CardLabel("NVIDIA A40"), "");
  EXPECT_EQ(CardLabel("91.5"), "");
  EXPECT_EQ(CardLabel(""), "");
}

/// Two nodes, the same seconds; each sample as `columns` says, %N the node, %U the utilisation (node 1 works).
std::string TwoNodes(const std::string& head, const std::string& columns, size_t rows_a_node = 1) {
  std::string text = head + "\n";
  for (int s = 0; s < 60; ++s) {
    for (int node = 0; node < 2; ++node) {
      for (size_t k = 0; k < rows_a_node; ++k) {
        std::string row = columns;
        row.replace(row.find("%N"), 2, "n" + std::to_string(node));
        row.replace(row.find("%U"), 2, node == 1 ? "95" : std::to_string(k));
        text += "2026-12-02 10:" + std::string(s < 10 ? "0" : "") + std::to_string(s) + ":00," + row + "\n";
      }
    }
  }
  return text;
}

TEST(Nodes, CardsOfEqualIndexOnTwoNodesAreTwoCards) {
  for (const char* heading : {"hostname", "node", "host"}) {
    const auto r = ReadText(TwoNodes(std::string("timestamp,") + heading + ",index,utilization.gpu [%]", "%N,0,%U %"));
    ASSERT_EQ(r.gpus.size(), 2U) << heading;
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(r.gpus[k].card.node, "n" + std::to_string(k)) << heading;
      EXPECT_EQ(r.gpus[k].card.gpu, "0") << heading;
      EXPECT_EQ(r.gpus[k].size(), 60U) << heading;
      EXPECT_EQ(r.gpus[k].At(GpuMetric::kSmUtil, 30), k == 0 ? 0.0F : 95.0F) << heading;
    }
    EXPECT_EQ(Odds(r, Odd::kIndexDisagrees), 0) << heading;
    EXPECT_EQ(Odds(r, Odd::kIndexInferred), 0) << heading;
  }
}

TEST(Nodes, WithoutAColumnForTheCardEachNodeHasItsOwn) {
  const std::string one = TwoNodes("timestamp,hostname,utilization.gpu [%]", "%N,%U %");
  const auto r = ReadText(one);
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.node, "n0");
  EXPECT_EQ(r.gpus[1].card.node, "n1");
  for (const auto& g : r.gpus) EXPECT_EQ(g.card.gpu, "0");  // the first of its node, on either
  EXPECT_EQ(r.gpus[1].At(GpuMetric::kSmUtil, 59), 95.0F);
  EXPECT_EQ(Odds(r, Odd::kIndexInferred), 120);
  EXPECT_THAT(ExplainText(one), HasSubstr("2 cards on 2 nodes, by the column for the node"));
  EXPECT_THAT(ExplainText(one, Lang::kZh), HasSubstr("2 个节点上的 2 张显卡"));

  const auto four = ReadText(TwoNodes("timestamp,hostname,utilization.gpu [%]", "%N,%U %", 2));
  ASSERT_EQ(four.gpus.size(), 4U);
  EXPECT_EQ(four.gpus[0].card.node + four.gpus[0].card.gpu, "n00");
  EXPECT_EQ(four.gpus[1].card.node + four.gpus[1].card.gpu, "n01");
  EXPECT_EQ(four.gpus[3].card.node + four.gpus[3].card.gpu, "n11");
  EXPECT_EQ(four.gpus[1].At(GpuMetric::kSmUtil, 7), 1.0F);
}

TEST(Nodes, OneNodeIsAsNone) {
  std::string text = TwoNodes("timestamp,hostname,utilization.gpu [%]", "%N,%U %");
  for (size_t at = text.find("n1"); at != std::string::npos; at = text.find("n1")) text[at + 1] = '0';
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.node, "n0");
  EXPECT_EQ(r.gpus[1].card.gpu, "1");
}

}  // namespace
}  // namespace sawbill::ingest
