// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "simulator/measure.h"
#include "simulator/play/player.h"

namespace sawbill::simulator {
namespace {

class PlayedWorld : public Played {
 public:
  PlayedWorld(const Simulation& s, uint64_t seed, std::function<int64_t()> pid) : sim_(s), pid_(std::move(pid)) {
    const Rng rng = Rng(seed).Fork("instruments");
    for (size_t k = 0; k < s.world.cards.size(); ++k) {
      meters_.emplace_back(s.world, static_cast<int>(k), *s.model, s.measure, rng);
      PlayedCard card;
      card.info.gpu = std::to_string(k);
      card.info.name = s.model->name;
      card.info.memory_total_mb = s.model->memory_mb;
      card.info.power_limit_w = s.model->limit_w;
      cards_.push_back(std::move(card));
    }
  }
  double duration_s() const override { return sim_.world.duration_s; }
  const std::vector<PlayedCard>& cards() const override { return cards_; }
  model::GpuValues Values(size_t card, double t_s) override { return meters_[card].Poll(t_s).value; }
  std::vector<PlayedProcess> Processes(size_t card, double t_s) override {
    std::vector<PlayedProcess> out;
    bool first = true;
    for (const Process& p : sim_.world.processes) {
      const auto at = std::find(p.cards.begin(), p.cards.end(), static_cast<int>(card));
      if (at == p.cards.end() || t_s < p.t0 || t_s >= p.t1) continue;
      PlayedProcess shown;
      shown.pid = std::exchange(first, false) && pid_ ? pid_() : p.pid;
      shown.name = p.name;
      shown.mem_mib = 0;
      for (const MemoryStep& m : p.memory[static_cast<size_t>(at - p.cards.begin())]) {
        if (m.t <= t_s) shown.mem_mib = m.mb;
      }
      shown.sm_util = meters_[card].Utilization(t_s);
      out.push_back(std::move(shown));
    }
    return out;
  }

 private:
  const Simulation& sim_;
  std::function<int64_t()> pid_;
  std::vector<CardMeter> meters_;
  std::vector<PlayedCard> cards_;
};

class PlayedRecording : public Played {
 public:
  explicit PlayedRecording(const model::Recording& r) : recording_(r) {
    TimeMs from = INT64_MAX, to = INT64_MIN;
    for (const model::GpuTrack& g : r.gpus) {
      if (g.t_ms.empty()) continue;
      from = std::min(from, g.t_ms.front());
      to = std::max(to, g.t_ms.back());
    }
    start_ = from == INT64_MAX ? 0 : from;
    duration_s_ = from == INT64_MAX ? 0 : Seconds(to - from);
    for (const model::GpuTrack& g : r.gpus) {
      cards_.push_back({g.card, false});
      longest_ms_.push_back(
          static_cast<TimeMs>(model::kMaxIntervalFactor * 1000 * model::Cover(g.t_ms).median_interval_s));
    }
    for (const model::ProcessRow& p : r.processes) {
      if (p.card >= 0) rounds_[p.card][p.t_ms].push_back(&p);
    }
  }
  double duration_s() const override { return duration_s_; }
  const std::vector<PlayedCard>& cards() const override { return cards_; }

  model::GpuValues Values(size_t card, double t_s) override {
    model::GpuValues out;
    out.fill(kMissing);
    const model::GpuTrack& g = recording_.gpus[card];
    const TimeMs t = start_ + static_cast<TimeMs>(t_s * 1000);
    // A sample speaks for the time before it.
    const auto at = std::lower_bound(g.t_ms.begin(), g.t_ms.end(), t);
    if (at == g.t_ms.end()) return out;
    const auto i = static_cast<size_t>(at - g.t_ms.begin());
    if (i > 0 && g.t_ms[i] - g.t_ms[i - 1] > longest_ms_[card]) return out;
    for (size_t m = 0; m < out.size(); ++m) out[m] = g.At(static_cast<model::GpuMetric>(m), i);
    return out;
  }

  std::vector<PlayedProcess> Processes(size_t card, double t_s) override {
    std::vector<PlayedProcess> out;
    const auto rounds = rounds_.find(static_cast<int32_t>(card));
    if (rounds == rounds_.end()) return out;
    const auto round = rounds->second.lower_bound(start_ + static_cast<TimeMs>(t_s * 1000));
    if (round == rounds->second.end()) return out;
    for (const model::ProcessRow* p : round->second) {
      out.push_back({p->pid, recording_.strings.Get(p->name), p->Value(model::ProcessMetric::kGpuMemMb),
                     p->Value(model::ProcessMetric::kSmUtil)});
    }
    return out;
  }

 private:
  const model::Recording& recording_;
  TimeMs start_ = 0;
  double duration_s_ = 0;
  std::vector<PlayedCard> cards_;
  std::vector<TimeMs> longest_ms_;
  std::map<int32_t, std::map<TimeMs, std::vector<const model::ProcessRow*>>> rounds_;
};

}  // namespace

std::unique_ptr<Played> PlayWorld(const Simulation& s, uint64_t seed, std::function<int64_t()> pid) {
  return std::make_unique<PlayedWorld>(s, seed, std::move(pid));
}

std::unique_ptr<Played> PlayRecording(const model::Recording& recording) {
  return std::make_unique<PlayedRecording>(recording);
}

}  // namespace sawbill::simulator
