// SPDX-License-Identifier: Apache-2.0
#include "bench/diagnosis/baselines.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/numbers.h"
#include "wave/stats.h"

namespace sawbill::bench {
namespace {
using model::GpuMetric;
using model::HostMetric;
using simulator::Readings;

using Series = std::vector<double>;

Series OfCard(const Readings& readings, size_t card, GpuMetric metric) {
  Series out;
  for (const auto& r : readings.gpu) {
    const double v = r.value[static_cast<size_t>(metric)];
    if (r.gpu == static_cast<int>(card) && IsPresent(v)) out.push_back(v);
  }
  return out;
}

Series OfHost(const Readings& readings, HostMetric metric) {
  Series out;
  for (const auto& r : readings.host) {
    const double v = r.value[static_cast<size_t>(metric)];
    if (IsPresent(v)) out.push_back(v);
  }
  return out;
}

double Mean(const Series& v) { return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / double(v.size()); }

Series Piece(const Series& v, size_t from, size_t n) {
  from = std::min(from, v.size());
  return {v.begin() + static_cast<long>(from), v.begin() + static_cast<long>(std::min(v.size(), from + n))};
}

template <typename Test>
double ShareBelow(const Series& v, const Test& test) {
  return v.empty() ? 0 : static_cast<double>(std::count_if(v.begin(), v.end(), test)) / static_cast<double>(v.size());
}

void Say(Answer* a, const char* id, const char* cause = "") {
  if (a->Find(id) == nullptr) a->claims.push_back({id, cause, std::nullopt, {}, {}});
}

/// A quarter of 120 samples below 20 %: "the card starves". In most of the windows, so that a start does not count.
Answer Simple(const Readings& readings, size_t cards, double) {
  constexpr size_t kWindow = 120;
  Answer a;
  for (size_t c = 0; c < cards; ++c) {
    const Series u = OfCard(readings, c, GpuMetric::kSmUtil);
    size_t fired = 0, windows = 0;
    for (size_t i = 0; i + kWindow <= u.size(); i += kWindow, ++windows) {
      fired += ShareBelow(Piece(u, i, kWindow), [](double x) { return x < 20; }) >= 0.25 ? 1 : 0;
    }
    if (2 * fired > windows) Say(&a, "data-loading");
  }
  return a;
}

double HistogramDistance(const Series& a, const Series& b) {
  constexpr size_t kBins = 10;
  double x[kBins] = {}, y[kBins] = {}, distance = 0;
  for (const double v : a) x[std::min(kBins - 1, static_cast<size_t>(v / 10))] += 1.0 / static_cast<double>(a.size());
  for (const double v : b) y[std::min(kBins - 1, static_cast<size_t>(v / 10))] += 1.0 / static_cast<double>(b.size());
  for (size_t i = 0; i < kBins; ++i) distance += std::abs(x[i] - y[i]);
  return distance / 2;
}

/// Windows of 500 points, looked at every 60, after a patience of 1000.
Answer SageMaker(const Readings& readings, size_t cards, double card_memory_mb) {
  constexpr size_t kWindow = 500, kEvery = 60, kPatience = 1000;
  Answer a;
  const Series cpu = OfHost(readings, HostMetric::kCpuUtil), iowait = OfHost(readings, HostMetric::kCpuIowait);
  Series first;
  for (size_t c = 0; c < cards; ++c) {
    const Series u = OfCard(readings, c, GpuMetric::kSmUtil);
    Series memory = OfCard(readings, c, GpuMetric::kMemUsedMb);
    for (double& m : memory) m *= 100 / card_memory_mb;
    const size_t n = std::min({u.size(), memory.size(), cpu.size(), iowait.size()});
    size_t cpu_bound = 0, io_bound = 0;
    for (size_t i = 0; i < n; ++i) {
      cpu_bound += cpu[i] > 90 && u[i] < 10 ? 1 : 0;
      io_bound += iowait[i] > 50 && u[i] < 10 ? 1 : 0;
    }
    if (2 * cpu_bound > n) Say(&a, "data-loading", "cpu-saturated");
    if (2 * io_bound > n) Say(&a, "data-loading", "slow-storage");
    for (size_t i = std::min(kPatience, n / 3); i + kWindow <= n; i += kEvery) {
      const double p95 = wave::Quantile(Piece(u, i, kWindow), 0.95), p5 = wave::Quantile(Piece(u, i, kWindow), 0.05);
      const bool low = p95 < 70;
      if (low) Say(&a, "unsaturated");
      if (!low && p5 < 10) Say(&a, "data-loading");
      if (low && wave::Quantile(Piece(cpu, i, kWindow), 0.95) < 70 &&
          wave::Quantile(Piece(memory, i, kWindow), 0.95) < 70)
        Say(&a, "unsaturated", "small-batch");
      if (i >= kWindow && Mean(Piece(memory, i, 10)) - Mean(Piece(memory, i - kWindow, 10)) > 5) Say(&a, "degradation");
    }
    if (c == 0) first = u;
    if (c > 0 && HistogramDistance(first, u) > 0.5) Say(&a, "imbalance");
    const auto work = std::find_if(u.begin(), u.end(), [](double x) { return x > 10; });
    if (work - u.begin() > 20 * 60) Say(&a, "startup");
  }
  return a;
}

/// Means of whole jobs: 0 % is nobody's, up to 15 % red, below 25 % amber.
Answer Jobstats(const Readings& readings, size_t cards, double) {
  Answer a;
  for (size_t c = 0; c < cards; ++c) {
    const double mean = Mean(OfCard(readings, c, GpuMetric::kSmUtil));
    if (mean == 0) {
      Say(&a, "unused");
    } else if (mean < 25) {
      Say(&a, "unsaturated");
    }
  }
  return a;
}

Answer BelowHalf(const Readings& readings, size_t cards, double) {
  Answer a;
  for (size_t c = 0; c < cards; ++c) {
    if (Mean(OfCard(readings, c, GpuMetric::kSmUtil)) < 50) Say(&a, "unsaturated", "small-batch");
  }
  return a;
}

/// A periodic utilisation (p < 0.001) is taken for a loader that cannot keep up.
Answer Fisher(const Readings& readings, size_t cards, double) {
  Answer a;
  for (size_t c = 0; c < cards; ++c) {
    const Series u = OfCard(readings, c, GpuMetric::kSmUtil);
    if (u.size() < 8) continue;
    const FisherResult r = FisherG(u);
    if (r.p_value < 0.001 && a.Find("data-loading") == nullptr)
      a.claims.push_back({"data-loading", "", r.period, {}, {}});
  }
  return a;
}

constexpr Baseline kBaselines[] = {
    {"120 samples, a quarter below 20 %", "a common script", Simple},
    {"SageMaker Debugger's thresholds", "smdebug_rulesconfig", SageMaker},
    {"jobstats' thresholds", "Princeton jobstats, config.py", Jobstats},
    {"below 50 %: raise the batch size", "PyTorch's TensorBoard profiler", BelowHalf},
    {"Fisher's g on utilisation", "R. A. Fisher 1929", Fisher},
};

}  // namespace

std::span<const Baseline> Baselines() { return kBaselines; }

FisherResult FisherG(const std::vector<double>& v) {
  // Some thousands of values once a run: the plain sum over a table of cosines is quick enough.
  const size_t n = v.size(), m = (n - 1) / 2;
  const double mean = Mean(v);
  std::vector<double> cosine(n), sine(n);
  for (size_t i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    cosine[i] = std::cos(angle);
    sine[i] = std::sin(angle);
  }
  double total = 0, largest = 0;
  size_t at = 1;
  for (size_t k = 1; k <= m; ++k) {
    double re = 0, im = 0;
    for (size_t i = 0, phase = 0; i < n; ++i, phase = phase + k >= n ? phase + k - n : phase + k) {
      re += (v[i] - mean) * cosine[phase];
      im += (v[i] - mean) * sine[phase];
    }
    const double power = re * re + im * im;
    total += power;
    if (power > largest) {
      largest = power;
      at = k;
    }
  }
  FisherResult r;
  if (!(total > 0)) return r;
  const double g = largest / total;
  r.period = static_cast<double>(n) / static_cast<double>(at);
  r.p_value = std::min(1.0, static_cast<double>(m) * std::pow(1 - g, static_cast<double>(m) - 1));
  return r;
}

}  // namespace sawbill::bench
