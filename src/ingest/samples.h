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
  /// Readings at times that had no row when they came.
  struct Series {
    std::vector<TimeMs> t_ms;
    std::vector<double> values;
    void Add(TimeMs t, double v) {
      t_ms.push_back(t);
      values.push_back(v);
    }
  };
  /// Rows in order of time. Most logs go through once, or series after series with the same times: then every reading
  /// finds its row at the end or behind the one before it.
  template <typename Value>
  struct Columns {
    std::vector<TimeMs> t_ms;
    std::vector<std::vector<Value>> values;  // by metric; shorter than t_ms where nothing came since
    std::vector<Series> late;                // by metric
    size_t at = 0;                           // the row of the last reading
    int64_t twice = 0;

    explicit Columns(size_t metrics) : values(metrics), late(metrics) {}
    /// The row of time t; SIZE_MAX when there is none and it is too late to make one.
    size_t Row(TimeMs t);
    void Set(TimeMs t, size_t metric, double v);
    /// All late readings put where they belong.
    void Settle();
  };
  struct CardSeries {
    model::CardInfo info;
    Columns<float> columns{model::kGpuMetrics};
    Columns<double> energy{1};
    std::vector<TimeMs> touched;
  };
  struct HostSeries {
    std::string node;
    Columns<float> columns{model::kHostMetrics};
  };

  template <typename MetricInfoType>
  bool Possible(const MetricInfoType& info, double value);
  std::string Place(const model::CardInfo& card) const;
  model::GpuTrack TrackOf(CardSeries* card);
  model::HostTrack TrackOf(HostSeries* host);

  const ReadContext& context_;
  model::Recording* const out_;
  std::vector<CardSeries> cards_;
  std::vector<HostSeries> hosts_;
  std::unordered_map<std::string, int> by_uuid_, by_label_;
  int64_t readings_ = 0;
};

}  // namespace sawbill::ingest
