// SPDX-License-Identifier: Apache-2.0
// For any recording the account adds up to the card-seconds of its period, no line is negative, and no second stands on
// it twice: by card, by run, by piece.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::GpuMetric;

int Draw(int lo, int hi) { return *rc::gen::inRange(lo, hi); }

/// A wave of random levels with holes: "95x60 0x12 _x40 ...", at most `seconds` long, in ticks of a second.
std::string AnyWave(int seconds) {
  std::string wave;
  for (int left = seconds; left > 0;) {
    const int n = std::min(left, Draw(1, 200));
    const bool hole = Draw(0, 8) == 0 && left != seconds;
    wave +=
        (hole ? std::string("_") : std::to_string(Draw(0, 3) == 0 ? 0 : Draw(0, 101))) + "x" + std::to_string(n) + " ";
    left -= n;
  }
  return wave;
}

/// One to four cards, some doubled or moved ticks, readings that are missing, jobs that overlap, share cards and leave
/// gaps; every third recording has a card that is cut into MIG instances.
model::Recording AnyRecording() {
  const int seconds = Draw(60, 1500), cards = Draw(1, 5);
  RecordingBuilder b;
  for (int k = 0; k < cards; ++k) {
    b.Card(AnyWave(seconds));
    if (Draw(0, 2) == 0) b.Constant(GpuMetric::kMemUsedMb, Draw(0, 60000));
  }
  for (int n = Draw(0, 4); n > 0; --n) {
    RecordingBuilder::Job job;
    job.name = "job" + std::to_string(Draw(0, 3));
    job.user = Draw(0, 2) == 0 ? "alice" : "bob";
    job.pid = Draw(100, 110);
    job.from_s = Draw(0, seconds);
    job.to_s = job.from_s + Draw(10, 1000);
    if (Draw(0, 2) == 0) job.sm_util = Draw(0, 101);
    if (Draw(0, 2) == 0) job.main_cores = Draw(0, 110) / 100.0;
    std::vector<size_t> on;
    for (int k = 0; k < cards; ++k) {
      if (on.empty() || Draw(0, 2) == 0) on.push_back(static_cast<size_t>(k));
    }
    b.Process(on, job);
  }
  model::Recording r = b.Build();
  for (model::GpuTrack& t : r.gpus) {
    auto& util = t.columns[static_cast<size_t>(GpuMetric::kSmUtil)];
    for (size_t i = 1; i + 1 < t.size(); ++i) {
      if (Draw(0, 40) == 0) util[i] = static_cast<float>(kMissing);
      if (Draw(0, 60) == 0) t.t_ms[i] += Draw(-400, 400);
      if (Draw(0, 80) == 0) t.t_ms[i] = t.t_ms[i - 1];  // the same tick twice
    }
  }
  if (cards >= 2 && Draw(0, 3) == 0) {
    r.gpus[1].card.gpu = "0.1.0";
    r.gpus[1].card.parent_uuid = r.gpus[0].card.uuid;
  }
  return r;
}

void ExpectSound(const Analysis& a) {
  std::vector<double> of_card(a.cards.size(), 0);
  for (const auto& [key, lines] : a.account) {
    for (const double s : lines) RC_ASSERT(s >= 0);
    of_card[key.card] += ledger::Sum(lines);
  }
  double total = 0, lost = 0;
  for (size_t k = 0; k < a.cards.size(); ++k) {
    // A card is on the account once for each second of the period, measured or not; with MIG instances it shares it.
    RC_ASSERT(std::abs(of_card[k] - a.cards[k].period_s) < 1e-3);
    RC_ASSERT(of_card[k] <= a.period.seconds() + 1e-3);
    if (!a.cards[k].split && !IsInstance(a.cards[k].card)) RC_ASSERT(std::abs(of_card[k] - a.period.seconds()) < 1e-3);
    total += of_card[k];
  }
  RC_ASSERT(std::abs(ledger::Sum(a.Lines()) - total) < 1e-3);
  for (const Finding& f : a.findings) {
    RC_ASSERT(f.wasted_s >= 0);
    double by = 0;
    for (const auto& [key, s] : f.wasted_by) {
      // What a finding claims stands on the account, in the same place.
      RC_ASSERT(s >= 0 && s <= ledger::Sum(a.account.at(key)) + 1e-6);
      by += s;
    }
    RC_ASSERT(std::abs(by - f.wasted_s) < 1e-3);
    lost += f.saving ? f.saving->expected_s : 0;
  }
  RC_ASSERT(lost <= total + 1e-3);
}

TEST(AccountProperty, AnyRecordingAddsUpAndNothingIsNegative) {
  EXPECT_TRUE(rc::check([] {
    const FixedSource source(AnyRecording());
    const Result<Analysis> a = Analyze(source, {});
    RC_ASSERT(a.ok());
    ExpectSound(a.value());
  }));
}

TEST(AccountProperty, CutsForPricesAndPiecesDoNotChangeTheSum) {
  EXPECT_TRUE(rc::check([] {
    const model::Recording r = AnyRecording();
    const FixedSource whole(r);
    Options cut;
    const TimeMs from = whole.period().from;
    for (int n = Draw(1, 4); n > 0; --n) cut.cuts.push_back(from + Draw(1, 1500000));
    std::sort(cut.cuts.begin(), cut.cuts.end());
    const Result<Analysis> a = Analyze(whole, {}), b = Analyze(whole, cut);
    RC_ASSERT(a.ok() && b.ok());
    const model::LineSeconds x = a.value().Lines(), y = b.value().Lines();
    for (size_t i = 0; i < model::kLines; ++i) RC_ASSERT(std::abs(x[i] - y[i]) < 1e-3);
    ExpectSound(b.value());
  }));
}

}  // namespace
}  // namespace sawbill::analysis
