// SPDX-License-Identifier: Apache-2.0
// Results of pieces added up: cards and runs are matched across the seam, findings of one kind on one run become one.
#pragma once

#include "analysis/calendar.h"
#include "analysis/piece.h"

namespace sawbill::analysis {

/// What is kept of a piece once its samples are dropped.
struct PieceResult {
  std::vector<model::CardInfo> cards;  // of the recording, in its order
  std::vector<CardFacts> facts;        // same order; wave sums below
  std::vector<std::vector<double>> wave_sum, wave_weight;
  std::vector<RunFacts> runs;  // cards: indices of this piece
  std::set<std::string> jobs, users, projects;
  std::map<AccountKey, model::LineSeconds> account;
  std::vector<Finding> findings;
  std::vector<Analysis::Trial> trials;
  std::map<std::string, model::TimeRange> nodes;  // first and last sample of each node
  std::vector<std::string> limits, cannot_judge, notes;
  model::DataQuality quality;
  std::string format;
  bool simulated = false;
  double work_s = 0;  // longest active time of a run
};

/// Statistics, energy, waveform and idle pattern of the piece's cards; `whole`: the period that waveforms span.
void AllFacts(const Piece& p, const Options& o, model::TimeRange whole, PieceResult* out);
/// What the piece cannot tell, and what to record instead.
void Limits(const Piece& p, const Options& o, PieceResult* out);

/// Adds pieces in order of time.
class Merger {
 public:
  explicit Merger(const Options& o) : options_(o), calendar_(o.tz, o.cuts) {}
  void Add(PieceResult r);
  Analysis Finish(const model::TelemetrySource& source);

 private:
  size_t CardIndex(const model::CardInfo& card);
  int RunIndex(RunFacts run);
  /// Facts of the piece's cards; returns where each of them stands here.
  std::vector<size_t> AddCards(PieceResult* piece);
  void AddNodes(const std::map<std::string, model::TimeRange>& nodes);
  void AddFinding(Finding f);
  bool SameSubject(const Finding& a, const Finding& b) const;

  /// The period and waves of a selection are those of its runs.
  void CropToRuns(model::TimeRange whole);

  const Options& options_;
  Calendar calendar_;
  Analysis out_;
  std::map<std::string, size_t> card_index_;
  std::vector<std::vector<double>> wave_sum_, wave_weight_;
  std::map<std::string, model::TimeRange> nodes_;
  double work_s_ = 0;
  std::vector<std::string> cannot_judge_;
};

/// What each fix of a run saves alone and on top of the others: compute-side fixes gain nothing alone while the loader
/// starves, and a fall is made of waits that other findings bring back.
void SettleSavings(std::vector<Finding>* findings);

}  // namespace sawbill::analysis
