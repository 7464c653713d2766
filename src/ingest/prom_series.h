// SPDX-License-Identifier: Apache-2.0
// Series of exporters, from pages of text or from answers of Prometheus, become a recording. All is kept until the end,
// because much can be told only then: which series are one card, whether a "ratio" is a percentage, what a counter
// rose by, and when a page was written.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/big_memory.h"
#include "ingest/format.h"
#include "ingest/samples.h"
#include "prom/labels.h"
#include "prom/series_table.h"

namespace sawbill::ingest {

/// What a series is about: a card (as its labels name it) or a host.
struct PromOwner {
  prom::CardLabels labels;
  std::array<double, prom::kFacts> facts;  // the first of each, NaN = not told
  double used_mb = kMissing;               // with them
  int card = -1;                           // its place in PromCards::cards, -1 = a host
  PromOwner() { facts.fill(kMissing); }
};

struct PromOneSeries {
  const prom::Meaning* meaning = nullptr;
  size_t owner = 0, heading = 0;
  std::string part;  // cpu, device or pid
  std::string mode;  // of node_cpu_seconds_total; name of a process
  std::vector<TimeMs> t_ms;
  std::vector<double> values;  // as they stand in the file
};

class PromSeries {
 public:
  /// Both must outlive this.
  PromSeries(const ReadContext& context, model::Recording* out) : context_(context), out_(out) {}

  /// The series' number, or -1 when nothing is to be taken from it.
  int Add(const prom::SeriesName& name);
  void Put(int series, TimeMs t, double value) {
    PromOneSeries& s = series_[static_cast<size_t>(series)];
    RoomForOneMore(&s.t_ms);
    RoomForOneMore(&s.values);
    s.t_ms.push_back(t);
    s.values.push_back(value);
  }
  /// In place of a time that is not known yet: that of a page. Settle() puts times in; samples of a page that has none
  /// (INT64_MIN) are taken out. Returns how many.
  static TimeMs Page(size_t page) { return INT64_MIN / 2 + static_cast<TimeMs>(page); }
  int64_t Settle(const std::vector<TimeMs>& page_times);

  bool empty() const { return series_.empty(); }
  bool nameless() const { return nameless_; }
  /// Makes the recording. kUnsupported when there is nothing of a card or a host in it.
  Status Finish(Explanation* explanation);

 private:
  struct Heading {
    std::string name;
    const prom::Meaning* meaning = nullptr;
    double factor = 1;
    bool by_range = false;  // the values, not the name, told the unit
  };

  size_t OwnerOf(const prom::CardLabels& labels, bool card);
  void DecideRanges();
  void TakeFacts();
  void PutCards(Samples* samples, const std::vector<bool>& parents);
  void PutProcesses(Samples* samples);
  void PutEvents(const std::vector<model::CardInfo>& cards);
  void Explain(const std::vector<model::CardInfo>& cards, Explanation* explanation) const;
  std::string How(const Heading& h) const;
  std::string Values(size_t heading, const std::vector<model::CardInfo>& cards) const;
  void Note(const std::vector<model::CardInfo>& cards);
  double Sound(const PromOneSeries& s, double value);

  const ReadContext& context_;
  model::Recording* const out_;
  std::vector<PromOwner> owners_;
  std::vector<PromOneSeries> series_;
  std::vector<Heading> headings_;
  std::unordered_map<std::string, size_t> owner_of_, heading_of_, series_of_;
  std::map<std::string, bool> unknown_;  // names that mean nothing here
  std::string workload_;                 // the first that a label named
  bool nameless_ = false;
  std::vector<int> number_;  // of PromOwner::card, in Samples
};

}  // namespace sawbill::ingest
