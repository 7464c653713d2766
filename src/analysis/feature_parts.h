// SPDX-License-Identifier: Apache-2.0
// The features of a run, a function for each block of wave/features.inc. Internal to analysis/.
#pragma once

#include "analysis/run_facts.h"

namespace sawbill::analysis::parts {

/// Whether the job or its host read data in `range`, or waited for storage.
bool Reads(const model::Recording& r, const RunAnalysis& a, model::TimeRange range);
/// Whether the minutes before the first work were no start-up: nobody used a core, read or wrote.
void QuietStart(const model::Recording& r, RunAnalysis* a);
/// active_s, startup, idle tail, life.
void States(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// The host of the run; null where it was not recorded.
const model::HostTrack* HostOf(const model::Recording& r, const RunAnalysis& a);
/// Means over the active time: CPU, disk, workers, main process.
void Host(const model::Recording& r, RunAnalysis* a);
/// What storage, workers and others did while the card waited. REQUIRES: interruptions and Level.
void Waits(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// How busy the job's loader workers are, 0-1 of a core each, at the moments of its process rows; empty where unknown.
wave::Series Preparing(const model::Recording& r, const RunAnalysis& a);
/// What the host wrote or sent meanwhile; empty where it was not read.
wave::Series Written(const model::Recording& r, const RunAnalysis& a, model::HostMetric m);
/// Means while active: util, power, SM activity, memory.
void Level(const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// main_blocked, from main_busy and wait_share.
void MainBlocked(RunAnalysis* a);
/// Dips, periods, aliasing.
void Shape(const RunSeries& s, const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// `interval_s`: between samples; what that cannot show is left absent.
void InterruptionFeatures(double interval_s, RunAnalysis* a);
/// DataParallel, communication.
void SeveralCards(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a);
void Clocks(const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// Who waits for whom, and whether the cards work on the same steps at all. REQUIRES: SeveralCards, Level.
void Ranks(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// What the processes on the late cards do, in place of all processes.
void HostOfLate(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a);
/// The share of a busy sample that a lower clock takes, where a reason bit says that something holds it down.
double ThrottleLoss(const PreparedCard& c, const CardInRun& facts, size_t i);
void Trend(const RunSeries& s, const std::vector<PreparedCard>& cards, RunAnalysis* a);
void Neighbours(const model::Recording& r, RunAnalysis* a);

/// True where [t0,t1] of a sample touches an interruption.
bool Interrupted(const RunAnalysis& a, TimeMs t0, TimeMs t1);
/// Samples of a card that count, see CardInRun::plain.
std::vector<CardInRun::Stretch> PlainStretches(const PreparedCard& c, const RunAnalysis& a);

/// fn(i) for each of those samples.
template <typename Fn>
void ForPlain(const CardInRun& card, Fn&& fn) {
  for (const CardInRun::Stretch& s : card.plain) {
    for (size_t i = s.first; i < s.last; ++i) fn(i);
  }
}

/// Mean of readings, each weighted by the seconds that it speaks for; missing ones do not count.
class MeanOfReadings {
 public:
  void Add(double v, double dt_s) {
    if (IsMissing(v)) return;
    sum_ += v * dt_s;
    weight_ += dt_s;
  }
  bool known() const { return weight_ > 0; }
  double value() const { return known() ? sum_ / weight_ : kMissing; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace sawbill::analysis::parts
