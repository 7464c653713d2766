// SPDX-License-Identifier: Apache-2.0
#include "whatif/savings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sawbill::whatif {
namespace {
constexpr double kResidualGap = 0.05;  // of a step: what launches and syncs still cost after a fix
constexpr double kResidualComm = 0.05;
constexpr double kDdpComm = 0.04;

/// Time that is left when a share `wait` of `run_s` shrinks to `residual` of the new step.
double SavedDownTo(double run_s, double share, double residual) {
  return std::max(0.0, run_s * (1.0 - (1.0 - share) / (1.0 - residual)));
}

/// splitmix64 and Box-Muller: the same numbers with every compiler.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  double Uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1.0p-53;
  }
  double LogNormal(double mean, double cv) {
    if (cv <= 0) return mean;
    const double s2 = std::log(1 + cv * cv);
    const double z = std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * 3.14159265358979323846 * Uniform());
    return mean * std::exp(std::sqrt(s2) * z - s2 / 2);
  }

 private:
  uint64_t state_;
};
}  // namespace

Range DataLoading(double wait_s, double workers_needed, double cores, bool host_evidence) {
  double reachable = 1;
  // More workers help only up to the cores: beyond them the rest of the wait stays.
  if (!std::isnan(workers_needed) && !std::isnan(cores) && workers_needed > cores && cores > 0) {
    reachable = cores / workers_needed;
  }
  const double expected = 0.98 * wait_s * reachable;
  if (!host_evidence) return {0.5 * expected, 0.9 * expected, wait_s, false};
  return {0.85 * expected, expected, 1.03 * wait_s * reachable, false};
}

Range Checkpoint(double stall_s, double width_s) {
  const double snapshot = width_s > 0 ? std::min(1.0, 1.0 / width_s) : 1.0;
  return {stall_s * (1 - std::min(1.0, 2.5 * snapshot)), stall_s * (1 - snapshot * 0.4), stall_s, false};
}

Range Rarer(double seconds, double times) {
  return {seconds * (1 - 1 / std::max(1.0, times / 2)), seconds * (1 - 1 / times), seconds, false};
}

Range HostBound(double wait_s, double run_s) {
  const double share = run_s > 0 ? wait_s / run_s : 0;
  const double expected = SavedDownTo(run_s, share, kResidualGap);
  return {0.7 * expected, expected, wait_s, false};
}

Range DoubleBatch(double run_s) { return {0, 0.3 * run_s, 0.5 * run_s, true}; }

Range MixedPrecision(double busy_s) { return {0, 0.45 * busy_s, busy_s * (1 - 1 / 3.0), true}; }

Range Straggler(double run_s, double spin_share) {
  return {0.85 * spin_share * run_s, spin_share * run_s, 1.12 * spin_share * run_s, false};
}

Range DataParallel(double run_s, double first_util, double others_util, double cards) {
  if (!(first_util > 0)) return {};
  const double mean = (first_util + (cards - 1) * others_util) / cards;
  const double by_mean = run_s * std::max(0.0, 1 - mean / first_util / (1 - kDdpComm));
  const double by_others = run_s * std::max(0.0, 1 - others_util / first_util / (1 - kDdpComm));
  return {by_mean, by_others, by_others + 0.04 * run_s, false};
}

Range Communication(double run_s, double share, double share_low, double share_high) {
  return {SavedDownTo(run_s, share_low, kResidualComm), SavedDownTo(run_s, share, kResidualComm),
          SavedDownTo(run_s, share_high, kResidualComm), false};
}

Range Throttling(double lost_s) { return {0.6 * lost_s, lost_s, 1.05 * lost_s, false}; }

Throughput SimulatePipeline(const Pipeline& p, int steps, unsigned seed) {
  // Reference semantics: W x prefetch batches outstanding, delivered in order, the next index sent on consumption.
  Random random(seed);
  const int w = std::max(1, p.workers);
  const double slow = std::max(1.0, w / std::max(p.cores, 1e-9));
  std::vector<double> free(static_cast<size_t>(w), 0.0), ready;
  const auto prep = [&] { return slow * random.LogNormal(p.prep_s, p.cv); };
  ready.reserve(static_cast<size_t>(steps + w * p.prefetch));
  for (int i = 0; i < w * p.prefetch; ++i) {
    double& f = free[static_cast<size_t>(i % w)];
    f += prep();
    ready.push_back(f);
  }
  double t = 0, waited = 0, t_mark = 0, wait_mark = 0;
  const int warm = steps / 5;  // the queue starts empty: the first fifth is not the steady state
  for (int i = 0; i < steps; ++i) {
    if (i == warm) {
      t_mark = t;
      wait_mark = waited;
    }
    const double wait = std::max(0.0, ready[static_cast<size_t>(i)] - t);
    t += wait;
    waited += wait;
    double& f = free[static_cast<size_t>(i % w)];
    f = std::max(f, t) + prep();
    ready.push_back(f);
    t += p.gpu_s;
    if (p.stall_every > 0 && (i + 1) % p.stall_every == 0) t += p.stall_s;
  }
  Throughput out;
  const double span = t - t_mark;
  if (span > 0) {
    out.steps_per_s = (steps - warm) / span;
    out.wait_share = (waited - wait_mark) / span;
  }
  return out;
}

int WorkersToFeed(int workers, double wait_share, double cv, double cores) {
  constexpr int kSteps = 3000, kMost = 1024;
  constexpr double kFed = 0.005;
  constexpr unsigned kSeed = 1;
  const int now = std::max(1, workers);
  if (!(wait_share > kFed) || wait_share >= 1) return now;
  // In units of a fed step. By the law a batch takes W / (1 - d); unevenness is part of the wait that was seen, so that
  // share of the time is taken off again.
  Pipeline p{now, 2, now / (1 - wait_share), cv, 1.0};
  p.prep_s *= SimulatePipeline(p, kSteps, kSeed).steps_per_s / (1 - wait_share);
  const int limit = std::isnan(cores) ? kMost : static_cast<int>(std::clamp(cores, 1.0, double{kMost}));
  for (p.workers = now + 1; p.workers <= limit; ++p.workers) {
    if (SimulatePipeline(p, kSteps, kSeed).wait_share <= kFed) return p.workers;
  }
  return std::max(now, limit);
}

double CheckpointInterval(double stall_s, double mtbf_s) {
  return stall_s > 0 && mtbf_s > 0 ? std::sqrt(2 * stall_s * mtbf_s) : std::nan("");
}

double CheckpointWaste(double interval_s, double stall_s, double mtbf_s, double recover_s) {
  return stall_s / interval_s + interval_s / (2 * mtbf_s) + recover_s / mtbf_s;
}

}  // namespace sawbill::whatif
