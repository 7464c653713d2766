// SPDX-License-Identifier: Apache-2.0
// What a fix would bring back, from the counterfactual of the pipeline and not from "1 - utilisation": on the one
// public table of 13 real fixes that formula is off by 28 points on average. Times are in any one unit; results are
// parts of the same. Ranges follow the evidence: step timings +-10 %, host data +-30 % skewed low, GPU counters alone
// "up to".
#pragma once

namespace sawbill::whatif {

struct Range {
  double low = 0, expected = 0, high = 0;
  bool upper_only = false;  // "up to": nothing between 0 and high is known
};

/// Loader made fast enough. `wait_s` of `run_s`; `workers_needed` and `cores` bound what more workers can do (NaN =
/// unknown).
Range DataLoading(double wait_s, double workers_needed, double cores, bool host_evidence);
/// Synchronous saves of mean length `width_s` made asynchronous (a snapshot of about a second stays) and, high, rare.
Range Checkpoint(double stall_s, double width_s);
/// `times` as rare: e becomes e / times.
Range Rarer(double seconds, double times);
/// Gaps of share `wait_s / run_s` reduced to 5 % of a step.
Range HostBound(double wait_s, double run_s);
/// A batch twice as large is between 1 and 2 times as fast; nothing more is certain from outside.
Range DoubleBatch(double run_s);
/// Mixed precision is 1 to 3 times as fast end to end (A100 FP32 -> TF32 peak ratio 8, typical 2-3).
Range MixedPrecision(double busy_s);
/// One bad card as fast as the others: every card gains the share that the others spin.
Range Straggler(double run_s, double spin_share);
/// DataParallel -> DDP: every card does what the others do now (low: the mean over all), plus 4 % communication.
Range DataParallel(double run_s, double first_util, double others_util, double cards);
/// Exposed communication brought to 5 % of a step.
Range Communication(double run_s, double share, double share_low, double share_high);
/// Full clocks: compute-bound kernels gain all of it, memory-bound ones little.
Range Throttling(double lost_s);

/// In-order loader with a prefetch queue (the PyTorch DataLoader's semantics), by simulation: steps a second.
/// `prep_s` mean preparation time of one batch by one worker with coefficient of variation `cv` (lognormal), `gpu_s`
/// time of one step when fed, `cores` that the workers share. After every `stall_every` steps (0: never) the training
/// process stands still for `stall_s`, while the workers fill what they are ahead by. Deterministic for a seed.
struct Pipeline {
  int workers = 4, prefetch = 2;
  double prep_s = 1, cv = 0.3, gpu_s = 0.2, cores = 1e9;
  int stall_every = 0;
  double stall_s = 0;
};
struct Throughput {
  double steps_per_s = 0, wait_share = 0;
};
Throughput SimulatePipeline(const Pipeline& p, int steps, unsigned seed);

/// The fewest workers that feed the card, by simulation with prefetch 2: `workers` leave it waiting for `wait_share`
/// (0-1) of its time now, batches vary by `cv`. An even loader needs workers / (1 - wait); an uneven one more, since
/// batches are delivered in order and one that is late holds up those behind it. At most `cores`, never below
/// `workers`.
int WorkersToFeed(int workers, double wait_share, double cv, double cores);
/// What is assumed of `cv` where nobody timed the batches.
inline constexpr double kUsualPrepCv = 0.3;

/// Young's interval between saves, seconds: sqrt(2 C M) for a stall of `stall_s` a save and a failure every `mtbf_s`.
/// NaN unless both are positive. Being off by two costs little: change one only if it is more than three times away.
double CheckpointInterval(double stall_s, double mtbf_s);
/// Share of the time that goes to saving every `interval_s` of work, to work lost at a failure, and to coming back.
double CheckpointWaste(double interval_s, double stall_s, double mtbf_s, double recover_s);

}  // namespace sawbill::whatif
