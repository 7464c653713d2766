// SPDX-License-Identifier: Apache-2.0
// Features that compare the first card of a job with the others, links, and clocks. Who waits for whom: parts_ranks.cc.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/feature_parts.h"
#include "model/card_specs.h"
#include "wave/stats.h"

namespace sawbill::analysis::parts {
namespace {

using model::GpuMetric;
using model::Mask;
using model::ThrottleBit;
using wave::Feature;

// Collectives reach about 60-95 % of the data sheet's link rate, 76 % in the middle (nccl-tests, bus bandwidth).
constexpr double kLinkEfficiency = 0.76, kLinkEfficiencyLow = 0.60, kLinkEfficiencyHigh = 0.95;

struct CardMeans {
  size_t card = 0;
  double util = kMissing, power = kMissing, mem_util = kMissing, mem_mb = kMissing, link = kMissing,
         link_peak = kMissing;
};

CardMeans MeansOf(const PreparedCard& c, const CardInRun& k) {
  CardMeans m;
  m.card = k.card;
  MeanOfReadings util, power, mem_util, mem;
  std::vector<float> link, w;
  ForPlain(k, [&](size_t i) {
    const float dt = c.coverage.dt_s[i];
    util.Add(c.util[i], dt);
    power.Add(static_cast<float>(c.PowerShare(c.power_w[i])), dt);
    mem_util.Add(c.track->At(GpuMetric::kMemUtil, i), dt);
    mem.Add(c.track->At(GpuMetric::kMemUsedMb, i), dt);
    const float rx = c.track->At(GpuMetric::kNvlinkRxMbS, i), tx = c.track->At(GpuMetric::kNvlinkTxMbS, i);
    const float both = IsMissing(rx) ? tx : IsMissing(tx) ? rx : std::max(rx, tx);
    if (IsMissing(both)) return;
    link.push_back(both);
    w.push_back(dt);
  });
  m.util = util.value();
  m.power = power.value();
  m.mem_util = mem_util.value();
  m.mem_mb = mem.value();
  m.link = wave::WeightedMean(link, w);
  m.link_peak = wave::WeightedQuantile(link, w, 0.99);
  return m;
}

double MedianOf(const std::vector<CardMeans>& all, size_t skip, double CardMeans::* field) {
  std::vector<double> v;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != skip && IsPresent(all[i].*field)) v.push_back(all[i].*field);
  }
  return wave::Median(std::move(v));
}

void Communication(const std::vector<PreparedCard>& cards, const std::vector<CardMeans>& m, RunAnalysis* a) {
  double sum = 0, low = 0, mid = 0, high = 0;
  int n = 0, rated = 0;
  for (const CardMeans& c : m) {
    if (IsMissing(c.link)) continue;
    sum += c.link;
    ++n;
    const auto spec = model::FindCardSpec(cards[c.card].track->card.name);
    // Without the line rate nothing can be told: a steady load looks the same on a slow link that is full and on a fast
    // one that is nearly idle.
    if (!spec || spec->nvlink_gb_s <= 0) continue;
    ++rated;
    const double rate = spec->nvlink_gb_s * 1000.0, peak = std::max(c.link_peak, 1.0);
    mid += std::min(1.0, c.link / std::max(kLinkEfficiency * rate, 0.9 * peak));
    low += std::min(1.0, c.link / std::max(kLinkEfficiencyHigh * rate, peak));
    high += std::min(1.0, c.link / std::max(kLinkEfficiencyLow * rate, 0.9 * peak));
  }
  if (n == 0) return;
  wave::FeatureSet& f = a->features;
  f.Set(Feature::kLinkMbS, sum / n);
  if (sum / n < 1000) {  // 1 GB/s: gradients of nothing that matters
    f.Set(Feature::kCommShare, 0);
    return;
  }
  if (rated == 0) return;
  // Where a collective runs alone the card draws about 0.35 of its range (NCCL's kernels take a few SMs): the power
  // that is drawn bounds how long that can have been. What goes over the links beyond it is hidden behind computation.
  constexpr double kCollectivePower = 0.35;
  const double drawn = f.Get(Feature::kBusyPowerShare);
  const double most = IsMissing(drawn) ? 1 : std::clamp((1 - drawn) / (1 - kCollectivePower), 0.0, 1.0);
  f.Set(Feature::kCommShare, std::min(most, mid / rated));
  a->comm_share_low = std::min(most, low / rated);
  a->comm_share_high = std::min(most, high / rated);
}

}  // namespace

void SeveralCards(const model::Recording&, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  std::vector<CardMeans> m;
  for (const CardInRun& k : a->cards) {
    if (!k.never_works) m.push_back(MeansOf(cards[k.card], k));
  }
  const size_t n = m.size();
  if (n < 2) return;
  std::set<int64_t> pids;
  for (const auto& h : a->run.holds) pids.insert(h.pid);
  if (!pids.empty()) f.Set(Feature::kOneProcess, pids.size() == 1 ? 1 : 0);
  double others = 0;
  for (size_t i = 1; i < n; ++i) others += m[i].util;
  f.Set(Feature::kUtilSpread, m[0].util - others / static_cast<double>(n - 1));
  const double mem = MedianOf(m, 0, &CardMeans::mem_mb);
  if (mem > 0) f.Set(Feature::kMemSpread, m[0].mem_mb / mem);
  Communication(cards, m, a);
}

void Clocks(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  constexpr unsigned kThermal =
      Mask(ThrottleBit::kHwThermal) | Mask(ThrottleBit::kSwThermal) | Mask(ThrottleBit::kHwSlowdown);
  wave::FeatureSet& f = a->features;
  double busy = 0, thermal = 0, power = 0, clock_sum = 0, clock_w = 0;
  std::vector<float> temp, temp_w;
  bool known = false;
  for (const CardInRun& k : a->cards) {
    const PreparedCard& c = cards[k.card];
    const auto [first, last] = c.Range(a->active);
    const bool has_temp = c.track->Has(GpuMetric::kTempC);

    for (size_t i = first; i < last; ++i) {
      const double dt = c.dt(i);
      if (dt <= 0) continue;
      if (has_temp) {
        temp.push_back(c.track->At(GpuMetric::kTempC, i));
        temp_w.push_back(static_cast<float>(dt));
      }
      const float mask = c.track->At(GpuMetric::kThrottle, i), mhz = c.track->At(GpuMetric::kSmClockMhz, i);
      if (!(c.util[i] >= 50) || IsMissing(mask) || IsMissing(mhz) || IsMissing(k.clock_ref_mhz)) continue;
      known = true;
      busy += dt;
      const auto bits = static_cast<unsigned>(mask);
      const double ratio = mhz / k.clock_ref_mhz;
      // A power cap that costs a few percent of clock is how a well-fed card runs; heat is judged from 5 % on.
      const bool hot = (bits & kThermal) != 0 && ratio < 0.95;
      const bool capped = !hot && (bits & c.costly_power_bits) != 0 && ratio < 0.92;
      if (hot) thermal += dt;
      if (capped) power += dt;
      if (hot || capped) {
        clock_sum += ratio * dt;
        clock_w += dt;
      }
    }
  }
  f.Set(Feature::kTempC, wave::WeightedQuantile(temp, temp_w, 0.95));
  if (!known || busy <= 0) return;
  f.Set(Feature::kThermalShare, thermal / busy);
  f.Set(Feature::kPowerCapShare, power / busy);
  if (clock_w > 0) f.Set(Feature::kClockShare, clock_sum / clock_w);
}

}  // namespace sawbill::analysis::parts
