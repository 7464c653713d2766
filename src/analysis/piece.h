// SPDX-License-Identifier: Apache-2.0
// One recording (a piece of a source) on its way through the analysis. Internal to analysis/.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/run_facts.h"

namespace sawbill::analysis {

/// A verdict that fired on a run, or on a card outside runs.
struct Fired {
  int run = -1;               // index into Piece::runs
  std::vector<size_t> cards;  // indices into Recording::gpus
  rules::Verdict verdict;
  wave::FeatureSet features;
  std::vector<int> group = {};  // restart loop: all runs of the chain
};

struct Piece {
  const model::Recording* recording = nullptr;
  model::TimeRange range;  // (from, to] that this piece accounts for
  int threads = 1;         // for work within it
  std::vector<PreparedCard> cards;
  std::vector<model::TimeRange> split;  // by card: when its MIG instances are billed in its place; empty = never
  /// By card and sample: seconds that are in the report. Empty = all that the sample speaks for.
  std::vector<std::vector<float>> selected_s;
  struct Shared {
    double s = 0, measured_s = 0;  // time with several jobs on the card, and how much of it could be split by SM share
  };
  std::vector<Shared> shared;  // by card
  std::vector<char> wanted;    // by run; empty = all
  std::vector<RunAnalysis> runs;
  std::vector<Fired> fired;
  std::vector<Analysis::Trial> trials;
  /// Account by card of the recording, run and day; the run index is the piece's own.
  std::map<AccountKey, model::LineSeconds> account;
  std::map<AccountKey, double> hang_s;                                       // of idle-held: seconds of a hang
  std::map<std::pair<const rules::Rule*, size_t>, rules::TestResult> tests;  // of threshold and trend rules by card
};

/// Runs of the piece: from process rows, or taken from the load where there are none.
void FindPieceRuns(Piece* p);
/// Tries all rules on runs, settles which may stand together, fills `fired`.
void JudgePiece(Piece* p, const Options& o);
/// The same for cards outside runs. REQUIRES: AccountPiece.
void JudgeCards(Piece* p, const Options& o);
/// Fills `account` from the phases and from what fired.
void AccountPiece(Piece* p, const Options& o);
/// Turns what fired into findings with seconds, savings, evidence and causal chain.
std::vector<Finding> BuildFindings(const Piece& p, const Options& o);

/// True if a finding of this id fired on the run.
const Fired* FiredOn(const Piece& p, int run, model::FindingId id);
/// The run has late cards, and what they wait for was found: what the others lose to them is part of that finding.
bool WaitsForLate(const Piece& p, int run);
/// A card that run `run` has and never uses while its other cards work.
bool NeverWorksIn(const Piece& p, int run, size_t card);
/// Whether nobody holds the card at sample i: no memory beyond what a driver reserves. Unknown without a memory
/// reading.
std::optional<bool> LooksUnheld(const PreparedCard& c, size_t i);

}  // namespace sawbill::analysis
