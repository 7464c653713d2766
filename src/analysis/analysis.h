// SPDX-License-Identifier: Apache-2.0
// The one analysis: recording -> series with gaps -> features -> rules -> ledger -> savings. Batch, live and cluster
// use it alike. A piece of a recording (model::TelemetrySource) is analysed on its own, in constant memory, and results
// add up.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/messages.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/recording.h"
#include "rules/rules.h"

namespace sawbill::analysis {

/// Sums of weighted samples of one metric of one card: mean, quantiles (histogram), low share.
struct Distribution {
  double weight_s = 0, sum = 0;
  double low_s = 0;                // below 20 (only sm_util)
  std::vector<float> histogram_s;  // seconds in each of kBins equal bins of [lo, hi]
  double lo = 0, hi = 0;
  static constexpr int kBins = 200;
  void Merge(const Distribution& o);
  double Mean() const;
  double Quantile(double q) const;  // interpolated within a bin; NaN when empty
};

/// A stretch of time in which one job holds cards, or in which an unnamed load runs (logs without processes).
struct RunFacts {
  std::string run, job, user, program, node;
  std::string project, exit_status;                // from run records, where there are any
  std::vector<size_t> cards;                       // indices into Analysis::cards
  model::TimeRange range;                          // from process start (or first sample) to end
  model::TimeRange active;                         // first work to last work
  bool assumed = false;                            // no process data: taken as one job
  bool begins_before = false, ends_after = false;  // cut by the edges of the recording or piece
  wave::FeatureSet features;
};

/// Time of one account entry: which card, which run (or none), which local day, and which span between two cuts.
struct AccountKey {
  size_t card = 0;
  int run = -1;      // index into Analysis::runs
  int32_t day = 0;   // days since epoch, local
  int32_t span = 0;  // how many of Options::cuts lie at or before it: within one span no price changes
  auto operator<=>(const AccountKey&) const = default;
};

/// A change that would bring time back, and how much: shares are of the finding's run time (card-seconds).
struct SavingEstimate {
  double low_s = 0, expected_s = 0, high_s = 0;  // card-seconds of the whole run that would not be needed
  double alone_s = 0;
  double of_s = 0;          // card-seconds of its run, of which a speed-up is a share; 0 = of no run
  bool upper_only = false;  // tier C: "up to"
  bool speedup = false;     // useful work would be done in less time: more can be won than was lost
};

struct EvidenceItem {
  std::string metric, statement;  // in the language of the options
  std::optional<double> value, threshold;
  model::TimeRange range;
};

struct Finding {
  model::FindingId id{};
  std::optional<model::Cause> cause;
  int run = -1;               // index into Analysis::runs, -1 = of a card outside runs; of several the dearest
  int runs = 1;               // runs of the same job that it sums up
  std::vector<size_t> cards;  // that it is about
  double confidence = 0;
  std::string tier = "nvml";               // steps | host | nvml
  double wasted_s = 0;                     // card-seconds
  std::map<AccountKey, double> wasted_by;  // the same seconds where they stand, for prices that change
  std::optional<SavingEstimate> saving;
  std::optional<double> period_s, width_s;
  std::vector<EvidenceItem> evidence;
  std::vector<std::string> because;
  rules::Verdict verdict;  // how it was judged, for `rules explain`
  wave::FeatureSet features;
};

struct CardFacts {
  model::CardInfo card;
  double period_s = 0, covered_s = 0;
  int64_t samples = 0;
  model::TimeRange seen;   // first to last sample
  bool util_read = false;  // by one sample at least, be it one that covers no time
  bool split = false;      // a MIG parent: for some of the time its instances are billed in its place
  std::vector<std::pair<model::GpuMetric, Distribution>> stats;
  std::string idle_pattern = "unknown";  // periodic random aliased none unknown
  std::optional<double> idle_period_s;
  double longest_idle_s = 0;
  double energy_j = 0, energy_s = 0;  // joules over the time in which they are known
  bool energy_counted = false;        // from the counter; else integrated from power readings
  std::vector<float> wave,
      wave_low;  // sm_util means and minima of Options::wave_points equal stretches; NaN = unmeasured
};

struct Analysis {
  model::TimeRange period;
  std::vector<CardFacts> cards;
  std::vector<RunFacts> runs;
  std::map<AccountKey, model::LineSeconds> account;  // adds up to the card-seconds of the period
  std::vector<Finding> findings;
  std::vector<std::string> cannot_judge, limits;  // in the language of the options
  model::DataQuality quality;
  std::vector<std::string> notes;
  std::string source, format;
  bool simulated = false;
  std::vector<TimeMs> cuts;           // as in the options
  bool filtered = false;              // only some runs are in here: period, cards and sums are those of their time
  std::set<std::string> jobs, users;  // that were seen, whether they passed the filter or not
  std::set<std::string> projects;
  /// Every rule that was tried on every run and card, fired or not, for `rules explain`.
  struct Trial {
    int run = -1;
    std::vector<size_t> cards;
    rules::Verdict verdict;
    wave::FeatureSet features;
  };
  std::vector<Trial> trials;

  model::LineSeconds Lines() const;
};

struct Options {
  Lang lang = Lang::kEn;
  TimeZone tz = TimeZone::Utc();
  const rules::RuleSet* rules = nullptr;  // null = the shipped ones
  int threads = 2;
  int wave_points = 120;
  bool keep_trials = false;
  /// Only cards and runs that pass (empty function = all): --gpu, --job, --user, --label.
  std::function<bool(const model::CardInfo&)> card_filter;
  std::function<bool(const RunFacts&)> run_filter;
  /// Instants at which a price may change, sorted: the account is cut there.
  std::vector<TimeMs> cuts;
  /// The period asked for (a side that cuts nothing lies far outside): the sources deliver one sample beyond each end,
  /// and its interval is cut there, so that adjacent periods add up to the whole.
  std::optional<model::TimeRange> clip;
  std::function<void(double share_done)> progress;
  std::function<void()> after_piece;  // called when the samples of a piece were dropped, from any thread
};

/// A MIG instance ("0.1.0"), which is a part of the card that is its parent.
bool IsInstance(const model::CardInfo& card);
bool IsParentOf(const model::CardInfo& card, const model::CardInfo& instance);

/// Sums two findings of one kind; evidence and chain are those of the dearer.
void MergeFinding(Finding* into, Finding from);
/// Findings in the order in which fixing them saves most.
void OrderGreedy(std::vector<Finding>* findings);

/// Readings that no part of the analysis looks at under these rules: a source need not keep them.
model::GpuMetricSet UnreadBy(const rules::RuleSet& rules);

Result<Analysis> Analyze(const model::TelemetrySource& source, const Options& options);

}  // namespace sawbill::analysis
