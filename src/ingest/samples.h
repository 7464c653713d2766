// SPDX-License-Identifier: Apache-2.0
// Readings that do not come as one table (pages of Prometheus text, JSON series, tables printed for people) become a
// recording: put in one by one in any order, series after series or page after page, and made into tracks at the end.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/format.h"

namespace sawbill::ingest {

class Samples {
 public:
  /// Both must outlive this. Process rows and their strings go into `out` at once, the rest at Finish().
  Samples(const ReadContext& context, model::Recording* out) : context_(context), out_(out) {}

  /// The card's number. The same card (node + uuid, else node + label) has the same number; facts that were not known
  /// before are added. A card that was seen without its uuid and then with it is one card.
  int Card(const model::CardInfo& card);
  /// In the catalogue's unit (kEnergyJ in J, kThrottle as mask). NaN is no reading. What is outside the possible is
  /// counted and left empty. The second reading for one card, time and metric is counted as a duplicate, the first
  /// stands.
  void Set(int card, TimeMs t, model::GpuMetric metric, double value);
  /// A sample of which nothing could be read: the card was looked at.
  void Touch(int card, TimeMs t);

  int Host(const std::string& node);
  void SetHost(int host, TimeMs t, model::HostMetric metric, double value);

  /// What one process held or did on a card (-1 = none) at a time. NaN in `values` = not told.
  void Process(TimeMs t, int card, const std::string& node, int64_t pid, std::string_view name, std::string_view user,
               const model::ProcessValues& values);

  size_t cards() const { return cards_.size(); }
  int64_t readings() const { return readings_; }

  /// Makes the tracks: cards by node and label, samples by time, a column for what was ever read.
  /// kUnsupported when there is no card and no host with a reading.
  Status Finish(Explanation* explanation);

 private:
  struct Series {
    std::vector<TimeMs> t_ms;
    std::vector<double> values;
    bool ordered = true;
    void Add(TimeMs t, double v) {
      ordered = ordered && (t_ms.empty() || t_ms.back() < t);
      t_ms.push_back(t);
      values.push_back(v);
    }
  };
  struct CardSeries {
    model::CardInfo info;
    std::vector<Series> metrics{model::kGpuMetrics};
    std::vector<TimeMs> touched;
  };
  struct HostSeries {
    std::string node;
    std::vector<Series> metrics{model::kHostMetrics};
  };

  template <typename MetricInfoType>
  bool Possible(const MetricInfoType& info, double value);
  std::string Place(const model::CardInfo& card) const;
  model::GpuTrack TrackOf(CardSeries* card);
  model::HostTrack TrackOf(HostSeries* host);
  static std::vector<TimeMs> AllTimes(const std::vector<Series>& metrics, std::vector<TimeMs> more);
  int64_t Sort(Series* series);

  const ReadContext& context_;
  model::Recording* const out_;
  std::vector<CardSeries> cards_;
  std::vector<HostSeries> hosts_;
  std::unordered_map<std::string, int> by_uuid_, by_label_;
  int64_t readings_ = 0;
};

}  // namespace sawbill::ingest
