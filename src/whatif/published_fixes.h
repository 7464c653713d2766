// SPDX-License-Identifier: Apache-2.0
// The one public table of real fixes with their real gains (Gao et al., ICSE'24, doi 10.1145/3597503.3639232, tables 2
// to 5: 8 x V100, BERT-large and Swin), and what this room would have said before each, from utilisation alone. For the
// regression test and for bench/published_fixes. No constant of the estimator was fitted to these rows.
//
// What is known before a fix: mean GPU-Util of the job (U) and of its training stage (T). Outside training the cards do
// next to nothing, so at most 1 - U/T of the time is not training: that bounds what asynchronous saves bring back. How
// long one save lasts is not in the table, so nothing narrows it.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "whatif/savings.h"

namespace sawbill::whatif {

struct PublishedFix {
  const char* name;
  double job_before, job_after;  // mean GPU-Util of the whole job, percent
  double train_before;           // of the training stage
  double speedup;                // as measured
  double doublings;              // of the batch
  bool async_save, pinned;
};

inline const std::vector<PublishedFix>& PublishedFixes() {
  static const std::vector<PublishedFix> rows = {
      {"BERT batch 32 to 768", 55.21, 59.06, 64.40, 4.92, std::log2(24.0), false, false},
      {"BERT batch 32 to 256", 55.21, 62.38, 64.40, 4.16, 3, false, false},
      {"Swin batch 8 to 256", 53.40, 61.81, 57.79, 3.41, 5, false, false},
      {"BERT 32 async save", 55.21, 60.96, 64.40, 1.20, 0, true, false},
      {"BERT 768 async save", 59.06, 83.74, 90.78, 1.52, 0, true, false},
      {"Swin 8 async save", 53.40, 53.45, 57.79, 1.02, 0, true, false},
      {"Swin 256 async save", 61.81, 56.66, 85.05, 1.12, 0, true, false},
      {"BERT 32 pinned memory", 55.21, 56.25, 64.40, 1.15, 0, false, true},
      {"BERT 768 pinned memory", 59.06, 55.69, 90.78, 1.02, 0, false, true},
      {"Swin 8 pinned memory", 53.40, 54.82, 57.79, 1.03, 0, false, true},
      {"Swin 256 pinned memory", 61.81, 62.64, 85.05, 1.03, 0, false, true},
      {"BERT all three", 55.21, 85.78, 64.40, 7.52, std::log2(24.0), true, true},
      {"Swin all three", 53.40, 58.61, 57.79, 3.95, 5, true, true},
  };
  return rows;
}

/// Speed-up of each batch over the one before it in the same paper's sweep.
struct PublishedDoubling {
  const char* name;
  double speedup;
};
inline const std::vector<PublishedDoubling>& PublishedDoublings() {
  static const std::vector<PublishedDoubling> rows = {
      {"BERT 32 to 64", 1.96 / 1.00},   {"BERT 64 to 128", 3.10 / 1.96}, {"BERT 128 to 256", 4.16 / 3.10},
      {"BERT 256 to 512", 4.67 / 4.16}, {"Swin 8 to 16", 1.79 / 1.00},   {"Swin 16 to 32", 2.51 / 1.79},
      {"Swin 32 to 64", 2.94 / 2.51},   {"Swin 64 to 128", 3.32 / 2.94}, {"Swin 128 to 256", 3.41 / 3.32}};
  return rows;
}

struct FixEstimate {
  Range range;         // share of the time before
  bool told = true;    // false: telemetry cannot tell, no figure is given
  bool single = true;  // false: several doublings at once, which is never claimed; only to compare with the formula
};

/// What is left of the time after fixes that each leave 1 - saving of what the one before left.
inline double Compound(double once, double times) { return 1 - std::pow(1 - once, times); }
inline double Together(double a, double b) { return 1 - (1 - a) * (1 - b); }

inline FixEstimate EstimateFix(const PublishedFix& f) {
  FixEstimate e;
  e.told = f.doublings > 0 || f.async_save;  // pinned memory leaves no trace in what is polled
  e.single = f.doublings <= 1;
  if (f.doublings > 0) {
    const Range once = DoubleBatch(1);
    e.range = {Compound(once.low, f.doublings), Compound(once.expected, f.doublings), Compound(once.high, f.doublings),
               true};
  }
  if (f.async_save) {
    const Range save = Checkpoint(std::max(0.0, 1 - f.job_before / f.train_before), 0);
    e.range = {Together(e.range.low, save.low), Together(e.range.expected, save.expected),
               Together(e.range.high, save.high), true};
  }
  return e;
}

inline double TrueSaving(double speedup) { return 1 - 1 / speedup; }
/// "New time = old time x u0 / u1".
inline double NaiveSaving(const PublishedFix& f) { return 1 - f.job_before / f.job_after; }

struct FixScore {
  double ours = 0, naive = 0;  // mean absolute error of the saving, share of the time before
  int rows = 0, told = 0, inside = 0;
  double width = 0;  // mean of what was told
  double told_ours = 0, told_naive = 0;
};
/// Where no figure is given, nothing is promised: counted as a saving of 0.
inline FixScore ScoreFixes() {
  FixScore s;
  for (const PublishedFix& f : PublishedFixes()) {
    const FixEstimate e = EstimateFix(f);
    const double truth = TrueSaving(f.speedup), off = std::abs((e.told ? e.range.expected : 0) - truth);
    ++s.rows;
    s.ours += off;
    s.naive += std::abs(NaiveSaving(f) - truth);
    if (!e.told) continue;
    ++s.told;
    s.told_ours += off;
    s.told_naive += std::abs(NaiveSaving(f) - truth);
    s.width += e.range.high - e.range.low;
    s.inside += truth >= e.range.low && truth <= e.range.high ? 1 : 0;
  }
  s.ours /= s.rows;
  s.naive /= s.rows;
  s.width /= s.told;
  s.told_ours /= s.told;
  s.told_naive /= s.told;
  return s;
}

}  // namespace sawbill::whatif
