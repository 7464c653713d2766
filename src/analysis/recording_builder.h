// SPDX-License-Identifier: Apache-2.0
// Recordings from wave notation, for tests: one line a column, one call a process.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "wave/wave_notation.h"

namespace sawbill::analysis {

class RecordingBuilder {
 public:
  explicit RecordingBuilder(std::string card_name = "NVIDIA A100-SXM4-80GB") : card_name_(std::move(card_name)) {}

  /// A new card with its utilisation; other columns follow with Set. Power follows utilisation unless it is set.
  RecordingBuilder& Card(const std::string& util, double interval_s = 1);
  /// The power limit of the last card, W; its own is 400.
  RecordingBuilder& Limit(double watts);
  /// A column of the last card.
  RecordingBuilder& Set(model::GpuMetric m, const std::string& wave);
  RecordingBuilder& Constant(model::GpuMetric m, double value);
  /// A job's process on the cards, seen every 10 s from `from_s` to `to_s`. NaN = not read.
  struct Job {
    std::string name = "train", user = "alice";
    int64_t pid = 100;
    double from_s = 0, to_s = 0;
    double started_s = kMissing;  // NaN = from_s
    double workers = kMissing, tree_cores = kMissing, main_cores = kMissing, cores_allowed = 16;
    double sm_util = kMissing;
    double read_mb_s = kMissing, write_mb_s = kMissing;
  };
  RecordingBuilder& Process(const std::vector<size_t>& cards, const Job& job);
  RecordingBuilder& Host(model::HostMetric m, const std::string& wave);
  model::Recording Build();

 private:
  std::string card_name_;
  model::Recording r_;
  double interval_s_ = 1;
};

/// A recording as a source of one piece, or cut at the given seconds.
class FixedSource : public model::TelemetrySource {
 public:
  explicit FixedSource(model::Recording r, const std::vector<double>& cuts_s = {});
  const std::vector<model::CardInfo>& cards() const override { return cards_; }
  model::TimeRange period() const override { return {pieces_.front().from, pieces_.back().to}; }
  const std::vector<model::TimeRange>& pieces() const override { return pieces_; }
  Result<model::Recording> Read(size_t piece) const override;
  std::string description() const override { return "a test"; }

 private:
  model::Recording r_;
  std::vector<model::CardInfo> cards_;
  std::vector<model::TimeRange> pieces_;
};

/// The analysis of `r` in one piece, or in pieces cut at the given seconds. Aborts where it fails.
Analysis Judge(model::Recording r, const std::vector<double>& cuts_s = {});
/// The first finding with that id, or null.
const Finding* Find(const Analysis& a, model::FindingId id);
/// "data-loading:few-workers checkpoint ": ids and causes in the order of the findings.
std::string Names(const Analysis& a);
/// `wave` n times.
std::string Repeat(const std::string& wave, int n);

}  // namespace sawbill::analysis
