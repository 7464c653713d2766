// SPDX-License-Identifier: Apache-2.0
// The one report struct. Everything that a person or a program is told comes from here: text, Markdown, HTML, JSON,
// CSV. Ids, keys and causes are untranslated; sentences are already in `lang`. Money is in units of `currency`, absent
// where no price is known. Shares are 0-1. NaN never occurs in an optional: what cannot be told is absent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/messages.h"
#include "base/time.h"
#include "model/data_quality.h"
#include "model/ids.h"

namespace sawbill::report {

using Money = std::optional<double>;

/// Always shown together: P95 high and mean low = mostly waiting; both low = truly idle.
struct MetricStats {
  std::string metric;  // catalog name
  double mean = 0, median = 0, p95 = 0;
  std::optional<double> low_share;  // sm_util only: share of time below 20 %
};

struct PriceSpan {
  TimeMs from = 0, to = 0;
  double price_per_hour = 0;
  std::string contract, source, as_of;  // as_of: the day of the price, "" = not said
};

struct Idle {
  std::optional<double> share;      // time with sm_util below 20 %
  std::string pattern = "unknown";  // periodic random aliased none unknown
  std::optional<double> period_s, longest_s;
};

struct GpuRow {
  std::string node, gpu, uuid, name, label;
  double hours = 0;  // of the period, measured or not
  double measured_hours = 0;
  Money cost;
  std::vector<PriceSpan> prices;
  Idle idle;
  std::vector<MetricStats> stats;
  std::vector<float> wave;  // sm_util means of equal stretches of the period for a sparkline; NaN = not measured
  std::optional<double> energy_kwh;  // of the measured time
  std::string energy_method;         // counter | integrated | ""
  std::vector<float> wave_low;       // lowest sample in each stretch
  std::string tag;                   // part of the uuid, where the index meant another card as well
  int64_t samples = 0;
  TimeMs seen_from = 0, seen_to = 0;  // first and last sample; 0 = none
  bool util_read = false;             // be it in a sample that covers no time
};

struct RunRow {
  std::string run, job, user, project, program, node;
  std::vector<std::string> gpus;
  TimeMs from = 0, to = 0;
  Money cost;
  std::string exit_status;
  double duration_s() const { return Seconds(to - from); }
};

struct LedgerRow {
  model::Line line = model::Line::kUseful;
  double gpu_seconds = 0, share = 0;
  Money cost;
};

/// One group of `--by`: the account of what belongs to `key`.
struct GroupRow {
  std::string key;
  double gpu_hours = 0;
  Money cost, saving;
  model::LineSeconds lines{};
  std::vector<Money> line_costs;  // by line; empty where not known by line (then told only under one single price)
};

struct Evidence {
  std::string metric, statement;
  std::optional<double> value, threshold;
  TimeMs from = 0, to = 0;
};

struct Saving {
  double share_low = 0, share = 0, share_high = 0;  // of the bill (of the card time where no price is known)
  double share_alone = 0;
  Money low, expected, high, alone;
  std::string kind = "cash";   // cash | capacity, by where most of the money lies
  double capacity_share = 0;   // 0-1: how much of it is of prepaid cards
  bool speedup = false;        // the same work in less time: useful time shrinks, too, so it may be more than was lost
  bool counted_above = false;  // by itself it would save something, on top of the fixes above it nothing
};

struct Recommendation {
  std::string id;
  int level = 1;
  std::string action, key, from, to, check_first;
};

struct Finding {
  model::FindingId id = model::FindingId::kUnsaturated;
  std::optional<model::Cause> cause;
  std::string run;  // of several the dearest
  int runs = 1;     // cases (runs, cards) that it sums up
  std::vector<std::string> gpus;
  double confidence = 0;
  model::Severity severity = model::Severity::kInfo;
  std::string evidence_tier = "nvml";  // steps | host | nvml
  double wasted_gpu_seconds = 0;
  Money wasted_cost;
  std::optional<Saving> saving;  // absent: cannot be told
  std::optional<double> period_s, width_s;
  std::vector<Evidence> evidence;
  std::vector<std::string> because;  // the causal chain, first cause first
  std::vector<Recommendation> recommendations;
};

struct OddRow {
  std::string counter;
  model::Severity severity = model::Severity::kInfo;
  int64_t count = 0;
  std::string detail;  // where the first case was
  std::string text;    // in lang
};

/// Time that is not in the total.
struct UnpricedCard {
  std::string label, node, gpu, uuid, name;
  double hours = 0;
  bool lacks_share = false;  // a MIG instance of a priced card, and its share of the card is not known
  std::string selector;      // what to write before "=AMOUNT" in --price; "" = only an amount for all cards
};

struct Report {
  TimeMs generated = 0;
  std::string currency;
  Lang lang = Lang::kEn;
  std::string tz = "UTC";      // zone of printed times
  std::string source, format;  // what was read
  bool simulated = false;

  TimeMs period_from = 0, period_to = 0;
  double observed_s = 0, missing_s = 0;  // card-seconds measured and not
  double duration_s() const { return Seconds(period_to - period_from); }

  std::vector<GpuRow> gpus;
  std::vector<RunRow> runs;

  double gpu_hours = 0;
  Money cost, waste_upper_bound;       // price x hours x (1 - mean sm_util); the rough upper bound, named so
  std::optional<double> sm_util_mean;  // 0-1, over measured card time
  std::vector<LedgerRow> ledger;       // all lines, in the order of model::Line
  std::string by;                      // "" or the key of --by
  std::vector<GroupRow> groups;

  std::vector<Finding> findings;       // greedy order; above the minimum
  std::optional<Saving> total_saving;  // all findings together
  int below_minimum_count = 0;
  Money below_minimum_saving;
  double below_minimum_share = 0;

  // "cannot be judged, because ..." in lang; with no findings this is the verdict.
  std::vector<std::string> cannot_judge;
  std::vector<std::string> limits;    // what is missing and what to record instead, one line each, in lang
  std::vector<std::string> unpriced;  // card names without a price
  std::vector<OddRow> data_quality;
  std::vector<std::string> price_notes;  // of which day the prices are, and which are old, in lang
  std::vector<UnpricedCard> unpriced_cards;
  double unjudged_share = 0;  // of the card time: unmeasured or unexplained
  bool filtered = false;      // --job, --user or --project: all figures are of the time of those runs
};

}  // namespace sawbill::report
