// SPDX-License-Identifier: Apache-2.0
// How the account is cut: at price changes, at the period asked for, among jobs that share a card, and between a card
// and its MIG instances. Sums are exact.
#include <gmock/gmock.h>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::GpuMetric;
using model::Index;
using model::Line;
using testing::HasSubstr;

constexpr TimeMs kStart = 1767225600000;  // of the recordings that the builder makes
TimeMs At(double s) { return kStart + static_cast<TimeMs>(s * 1000); }

Analysis JudgeWith(const model::Recording& r, const Options& o = {}, const std::vector<double>& cuts_s = {}) {
  const FixedSource source(r, cuts_s);
  Result<Analysis> a = Analyze(source, o);
  SAWBILL_CHECK(a.ok());
  return std::move(a).value();
}

double Total(const Analysis& a) { return ledger::Sum(a.Lines()); }

double OfUser(const Analysis& a, const std::string& user) {
  double s = 0;
  for (const auto& [key, lines] : a.account) {
    if (key.run >= 0 && a.runs[static_cast<size_t>(key.run)].user == user) s += ledger::Sum(lines);
  }
  return s;
}

double OfCard(const Analysis& a, const std::string& gpu) {
  double s = 0;
  for (const auto& [key, lines] : a.account) {
    if (a.cards[key.card].card.gpu == gpu) s += ledger::Sum(lines);
  }
  return s;
}

model::Recording Plain(double seconds, double interval_s = 1) {
  return RecordingBuilder().Card("97x" + std::to_string(static_cast<int>(seconds)), interval_s).Build();
}

TEST(Account, IsCutWhereAPriceChangesToTheMillisecond) {
  Options o;
  o.cuts = {At(100.25), At(200)};
  const Analysis a = JudgeWith(Plain(301), o);
  std::map<int32_t, double> spans;
  for (const auto& [key, lines] : a.account) spans[key.span] += ledger::Sum(lines);
  // Samples stand at 1, 2, ... s, or at 0, 1, ...: what counts is that the parts are divided at the cuts.
  const double first = Seconds(o.cuts[0] - a.period.from), last = Seconds(a.period.to - o.cuts[1]);
  EXPECT_NEAR(spans[0], first, 1e-6);
  EXPECT_NEAR(spans[1], 99.75, 1e-6);
  EXPECT_NEAR(spans[2], last, 1e-6);
}

TEST(Account, AHoleOverAPriceChangeIsDividedThereToo) {
  Options o;
  o.cuts = {At(500)};
  const Analysis a = JudgeWith(RecordingBuilder().Card("97x300 _x400 97x300").Build(), o);
  double before = 0, after = 0;
  for (const auto& [key, lines] : a.account) (key.span == 0 ? before : after) += lines[Index(Line::kUnmeasured)];
  EXPECT_NEAR(before + after, 398.5, 1);
  EXPECT_NEAR(before, 200, 2);
}

TEST(Account, ADayOfLocalTimeEndsAtItsMidnight) {
  Options o;
  o.tz = *TimeZone::Load("+08:00");
  // 15:59:00 to 16:01:00 UTC is the turn of the day in +08:00; samples a minute apart straddle it.
  model::Recording r = Plain(20, 20);
  for (TimeMs& t : r.gpus[0].t_ms) t += 16 * 3600'000 - 10'000 * static_cast<TimeMs>(r.gpus[0].size());
  const Analysis a = JudgeWith(r, o);
  std::map<int32_t, double> days;
  for (const auto& [key, lines] : a.account) days[key.day] += ledger::Sum(lines);
  const TimeMs midnight = kStart + 16 * 3600'000;
  if (a.period.from < midnight && a.period.to > midnight) {
    ASSERT_EQ(days.size(), 2U);
    EXPECT_NEAR(days.begin()->second, Seconds(midnight - a.period.from), 1e-6);
  }
  EXPECT_NEAR(Total(a), Seconds(a.period.to - a.period.from), 1e-6);
}

/// What a source delivers for `clip`: one sample beyond each end.
model::Recording With(model::Recording r, model::TimeRange clip) {
  for (auto& g : r.gpus) {
    auto first = std::upper_bound(g.t_ms.begin(), g.t_ms.end(), clip.from) - g.t_ms.begin();
    auto last = std::upper_bound(g.t_ms.begin(), g.t_ms.end(), clip.to) - g.t_ms.begin();
    if (first > 0) --first;
    if (last < static_cast<std::ptrdiff_t>(g.size())) ++last;
    const auto cut = [&](auto* v) {
      if (v->empty()) return;
      v->erase(v->begin() + last, v->end());
      v->erase(v->begin(), v->begin() + first);
    };
    for (auto& c : g.columns) cut(&c);
    cut(&g.energy_j);
    cut(&g.t_ms);
  }
  return r;
}

TEST(Account, AdjacentPeriodsAddUpToTheWholeWhereverTheCutFalls) {
  for (const double cut_s : {10.0, 300.0, 300.4, 449.9, 450.0, 500.123, 899.0}) {
    model::Recording r = RecordingBuilder().Card("97x450 _x120 20x450").Card("50x1000").Build();
    for (size_t i = 0; i < r.gpus[1].size(); ++i) r.gpus[1].energy_j.push_back(300.0 * static_cast<double>(i));
    const Analysis whole = JudgeWith(r);
    const model::TimeRange first{whole.period.from, At(cut_s)}, second{At(cut_s), whole.period.to};
    Options o;
    o.clip = first;
    const Analysis a = JudgeWith(With(r, first), o);
    o.clip = second;
    const Analysis b = JudgeWith(With(r, second), o);
    EXPECT_NEAR(Total(a) + Total(b), Total(whole), 1e-3) << cut_s;
    EXPECT_EQ(a.period.to, At(cut_s));
    EXPECT_EQ(b.period.from, At(cut_s));
    EXPECT_NEAR(a.Lines()[Index(Line::kUnmeasured)] + b.Lines()[Index(Line::kUnmeasured)],
                whole.Lines()[Index(Line::kUnmeasured)], 1e-3)
        << cut_s;
    EXPECT_NEAR(a.cards[1].energy_j + b.cards[1].energy_j, whole.cards[1].energy_j, 1e-3) << cut_s;
  }
}

model::Recording TwoJobs(double alice_sm, double carol_sm) {
  RecordingBuilder::Job alice, carol;
  alice.to_s = 3000;
  alice.sm_util = alice_sm;
  carol.name = "infer";
  carol.user = "carol";
  carol.pid = 200;
  carol.from_s = 1000;
  carol.to_s = 2000;
  carol.sm_util = carol_sm;
  return RecordingBuilder()
      .Card("97x3001")
      .Constant(GpuMetric::kMemUsedMb, 60000)
      .Process({0}, alice)
      .Process({0}, carol)
      .Build();
}

TEST(SharedCard, SecondsAreDividedByTheSmShareOfTheProcesses) {
  const Analysis a = JudgeWith(TwoJobs(60, 20));
  EXPECT_NEAR(OfUser(a, "carol"), 250, 6);
  EXPECT_NEAR(OfUser(a, "alice"), 2750, 8);
  EXPECT_NEAR(Total(a), 3000, 1e-6);
  EXPECT_THAT(a.limits, testing::Contains(AllOf(HasSubstr("several jobs"), HasSubstr("100 %"))));
}

TEST(SharedCard, WithoutThatFigureEachGetsAnEqualPartAndItIsSaid) {
  const Analysis a = JudgeWith(TwoJobs(kMissing, kMissing));
  EXPECT_NEAR(OfUser(a, "carol"), 500, 10);
  EXPECT_NEAR(Total(a), 3000, 1e-6);
  EXPECT_THAT(a.limits, testing::Contains(HasSubstr("cannot be split by measurement")));
}

TEST(SharedCard, SelectionsOfEachUserAddUpToTheWholeAndNoSecondIsCountedTwice) {
  double sum = 0;
  for (const char* user : {"alice", "carol"}) {
    Options o;
    o.run_filter = [user](const RunFacts& r) { return r.user == user; };
    const Analysis a = JudgeWith(TwoJobs(60, 20), o);
    ASSERT_EQ(a.runs.size(), 1U);
    EXPECT_EQ(a.runs[0].user, user);
    for (const auto& [key, lines] : a.account) EXPECT_EQ(key.run, 0);
    sum += Total(a);
  }
  EXPECT_NEAR(sum, 3000, 12);
}

TEST(SharedCard, ARestartThatOverlapsByItsEstimatedEdgesIsNoSharing) {
  RecordingBuilder::Job first, second;
  first.to_s = 600;
  second.pid = 300;
  second.from_s = 603;
  second.to_s = 1200;
  const Analysis a = JudgeWith(RecordingBuilder().Card("97x1201").Process({0}, first).Process({0}, second).Build());
  for (const std::string& l : a.limits) EXPECT_THAT(l, Not(HasSubstr("several jobs")));
}

TEST(Selection, AllFiguresAreOfItsTimeOnly) {
  RecordingBuilder::Job busy, idle;
  busy.to_s = 1000;
  idle.name = "sleep";
  idle.user = "bob";
  idle.pid = 300;
  idle.from_s = 1200;
  idle.to_s = 3000;
  const model::Recording r =
      RecordingBuilder().Card("97x1005 0x1996").Card("0x3001").Process({0}, busy).Process({0}, idle).Build();
  Options o;
  o.run_filter = [](const RunFacts& run) { return run.user == "alice"; };
  const Analysis a = JudgeWith(r, o);
  EXPECT_TRUE(a.filtered);
  EXPECT_NEAR(a.cards[0].covered_s, 1005, 10);
  EXPECT_NEAR(a.cards[0].period_s, a.cards[0].covered_s, 1e-3);
  EXPECT_EQ(a.cards[1].period_s, 0);
  EXPECT_NEAR(a.period.seconds(), 1005, 10);
  ASSERT_FALSE(a.cards[0].stats.empty());
  EXPECT_NEAR(a.cards[0].stats[0].second.Mean(), 97, 1);
  ASSERT_EQ(a.cards[0].wave.size(), 120U);
  EXPECT_NEAR(a.cards[0].wave[118], 97, 1);
  EXPECT_EQ(a.users, (std::set<std::string>{"alice", "bob"}));
}

TEST(Mig, ACardIsNotBilledWhileItsInstancesAre) {
  model::Recording r = RecordingBuilder().Card("0x1801").Card("0x1801").Card("0x1801").Build();
  r.gpus[0].card.uuid = "GPU-parent";
  for (size_t k = 1; k < 3; ++k) {
    model::CardInfo& c = r.gpus[k].card;
    c.gpu = "0." + std::to_string(k) + ".0";
    c.uuid = "MIG-" + c.gpu;
    c.parent_uuid = "GPU-parent";
    c.share = 3.0 / 7;
  }
  const Analysis a = JudgeWith(r);
  EXPECT_NEAR(OfCard(a, "0"), 0, 1.1);
  EXPECT_NEAR(OfCard(a, "0.1.0"), 1800, 1e-6);
  EXPECT_NEAR(OfCard(a, "0.2.0"), 1800, 1e-6);
  EXPECT_TRUE(a.cards[0].split);
}

TEST(Mig, ACardIsBilledUntilItIsCutIntoInstances) {
  model::Recording r = RecordingBuilder().Card("97x1801").Card("97x600").Build();
  r.gpus[1].card.gpu = "0.1.0";
  r.gpus[1].card.share = 0.5;
  for (TimeMs& t : r.gpus[1].t_ms) t += 1'200'000;
  const Analysis a = JudgeWith(r);
  EXPECT_NEAR(OfCard(a, "0"), 1200, 2);
  EXPECT_NEAR(OfCard(a, "0.1.0"), 599, 2);
}

TEST(RunRecords, GiveARunItsProjectAndExitStatus) {
  RecordingBuilder::Job j;
  j.to_s = 900;
  model::Recording r = RecordingBuilder().Card("97x901").Process({0}, j).Build();
  model::RunRow start, end;
  start.job = end.job = "train";
  start.t_ms = At(1);
  start.state = "start";
  start.project = "vision";
  end.t_ms = At(900);
  end.state = "end";
  end.exit_status = "137";
  r.runs = {start, end};
  const Analysis a = JudgeWith(r);
  ASSERT_EQ(a.runs.size(), 1U);
  EXPECT_EQ(a.runs[0].project, "vision");
  EXPECT_EQ(a.runs[0].exit_status, "137");
}

TEST(Savings, NeverExceedWhatWasLostUnlessTheySpeedUpUsefulWork) {
  RecordingBuilder::Job j;
  j.to_s = 3601;
  j.workers = 2;
  j.tree_cores = 2.5;
  j.main_cores = 0.5;
  std::string wave = "0x21 ";
  for (int i = 0; i < 358; ++i) wave += "100x6 0x4 ";
  const Analysis a =
      JudgeWith(RecordingBuilder().Card(wave).Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, j).Build());
  ASSERT_FALSE(a.findings.empty());
  for (const Finding& f : a.findings) {
    if (!f.saving || f.saving->speedup) continue;
    const double gaps = f.id == model::FindingId::kDataLoading ? a.Lines()[Index(Line::kUnsaturated)] : 0;
    EXPECT_LE(f.saving->high_s, f.wasted_s + gaps + 1e-9) << model::Name(f.id);
    EXPECT_LE(f.saving->expected_s, f.saving->high_s + 1e-9) << model::Name(f.id);
    EXPECT_LE(f.saving->low_s, f.saving->expected_s + 1e-9) << model::Name(f.id);
  }
}

}  // namespace
}  // namespace sawbill::analysis
