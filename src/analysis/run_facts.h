// SPDX-License-Identifier: Apache-2.0
// The facts about one run: its phases, its interruptions, its features, and for each card what the ledger needs.
#pragma once

#include <vector>

#include "analysis/interruptions.h"
#include "analysis/prepare.h"
#include "jobs/runs.h"
#include "wave/features.h"

namespace sawbill::analysis {

/// What the ledger must know of one card of a run.
struct CardInRun {
  size_t card = 0;                  // index into Recording::gpus
  double util_ref = 100;            // percent that counts as "a kernel always runs" (P95; 98 where that is below 95)
  double spin_share = 0;            // share of busy time spent spinning for a slower card (estimate)
  size_t waits_for = SIZE_MAX;      // the card whose clock is held down, and with it this one's steps
  double wait_share = 0;            // of active time without interruptions
  double clock_ref_mhz = kMissing;  // SM clock of busy samples without a throttle reason
  double busy_power_share = kMissing;
  bool never_works = false;  // while other cards of the job do
  bool own_process = false;  // never works, and a process of the job is on it that works on no other card either
  /// Its samples with a utilisation in the active time outside interruptions: what is said of its work is said of them.
  struct Stretch {
    size_t first = 0, last = 0;  // [first, last)
  };
  std::vector<Stretch> plain;
};

struct RunAnalysis {
  jobs::Run run;
  bool assumed = false;      // no process data: the load itself is taken as one job
  model::TimeRange active;   // first to last work; empty when it never worked
  bool untold_idle = false;  // quiet looks of a coarse record that chance explains: neither idle nor busy
  double warm_up_s = 0;      // of the start: from the first kernel on, while kernels are compiled
  bool unseen_work = false;  // power shows work that no look at utilisation found: its time cannot be told
  bool quiet_start = false;  // minutes before the first work in which its processes did nothing either: held, no start
  Interruptions interruptions;
  std::vector<CardInRun> cards;
  wave::FeatureSet features;
  struct DipSample {
    model::TimeRange range;
    double low = 0, usual = 0;  // percent
  };
  std::vector<DipSample> dip_samples;  // the first few dips, to be checked by hand
  wave::Periodicity dip_spacing;       // of the dips outside interruptions, where a period may be claimed
  bool aliased = false;
  double comm_share_low = 0, comm_share_high = 0;
  size_t slow_card = SIZE_MAX;               // index into Recording::gpus
  bool others_rest = false;                  // the others wait for it without a kernel
  std::vector<size_t> late;                  // cards that rest while the others spin for them
  std::vector<size_t> held_down;             // of several cards those whose clock is held down
  model::TimeRange before_fall, after_fall;  // windows of the trend
};

/// REQUIRES: `cards` prepared from `r.gpus`, same order.
RunAnalysis AnalyzeRun(const model::Recording& r, const std::vector<PreparedCard>& cards, jobs::Run run, bool assumed);

/// The first sample from which on the card works (5 samples with a mean of 10 % or more), or nothing.
std::optional<size_t> FirstWork(const PreparedCard& c, size_t first, size_t last);
std::optional<size_t> LastWork(const PreparedCard& c, size_t first, size_t last);

}  // namespace sawbill::analysis
