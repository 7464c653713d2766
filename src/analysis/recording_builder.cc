// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording_builder.h"

#include <algorithm>

namespace sawbill::analysis {
namespace {
constexpr TimeMs kStart = 1767225600000;  // 2026-01-01T00:00:00Z
constexpr double kIdleW = 60, kLimitW = 400;
}  // namespace

RecordingBuilder& RecordingBuilder::Card(const std::string& util, double interval_s) {
  interval_s_ = interval_s;
  model::GpuTrack t;
  t.card.gpu = std::to_string(r_.gpus.size());
  t.card.uuid = "GPU-test-" + t.card.gpu;
  t.card.name = card_name_;
  t.card.memory_total_mb = 81920;
  t.card.power_limit_w = kLimitW;
  t.card.sm_clock_max_mhz = 1410;
  t.card.util_window_s = interval_s;
  auto& u = t.columns[static_cast<size_t>(model::GpuMetric::kSmUtil)];
  auto& p = t.columns[static_cast<size_t>(model::GpuMetric::kPowerW)];
  for (const auto& s : wave::ParseWave(util, interval_s)) {
    t.t_ms.push_back(kStart + static_cast<TimeMs>(s.t_s * 1000));
    u.push_back(s.value);
    p.push_back(static_cast<float>(kIdleW + (kLimitW - kIdleW) * 0.9 * s.value / 100));
  }
  r_.gpus.push_back(std::move(t));
  return *this;
}

RecordingBuilder& RecordingBuilder::Limit(double watts) {
  r_.gpus.back().card.power_limit_w = watts;
  return *this;
}

RecordingBuilder& RecordingBuilder::Set(model::GpuMetric m, const std::string& wave) {
  model::GpuTrack& t = r_.gpus.back();
  auto& column = t.columns[static_cast<size_t>(m)];
  column.clear();
  for (const auto& s : wave::ParseWave(wave, interval_s_)) column.push_back(s.value);
  column.resize(t.size(), static_cast<float>(kMissing));
  return *this;
}

RecordingBuilder& RecordingBuilder::Constant(model::GpuMetric m, double value) {
  model::GpuTrack& t = r_.gpus.back();
  t.columns[static_cast<size_t>(m)].assign(t.size(), static_cast<float>(value));
  return *this;
}

RecordingBuilder& RecordingBuilder::Process(const std::vector<size_t>& cards, const Job& job) {
  for (double t = job.from_s; t <= job.to_s + 1e-9; t += 10) {
    for (const size_t k : cards) {
      model::ProcessRow p;
      p.t_ms = kStart + static_cast<TimeMs>(t * 1000);
      p.card = static_cast<int32_t>(k);
      p.pid = job.pid;
      p.user = r_.strings.Intern(job.user);
      p.name = r_.strings.Intern("python");
      p.job = r_.strings.Intern(job.name);
      p.started_s = static_cast<double>(kStart) / 1000 + (IsPresent(job.started_s) ? job.started_s : job.from_s);
      p.values.fill(static_cast<float>(kMissing));
      const auto set = [&](model::ProcessMetric m, double v) {
        p.values[static_cast<size_t>(m)] = static_cast<float>(v);
      };
      set(model::ProcessMetric::kWorkers, job.workers);
      set(model::ProcessMetric::kCpuCores, job.tree_cores);
      set(model::ProcessMetric::kMainCpuCores, job.main_cores);
      set(model::ProcessMetric::kCoresAllowed, job.cores_allowed);
      set(model::ProcessMetric::kSmUtil, job.sm_util);
      set(model::ProcessMetric::kReadMbS, job.read_mb_s);
      set(model::ProcessMetric::kWriteMbS, job.write_mb_s);
      r_.processes.push_back(p);
    }
  }
  return *this;
}

RecordingBuilder& RecordingBuilder::Host(model::HostMetric m, const std::string& wave) {
  if (r_.hosts.empty()) r_.hosts.emplace_back();
  model::HostTrack& h = r_.hosts.back();
  auto& column = h.columns[static_cast<size_t>(m)];
  const bool first = h.t_ms.empty();
  for (const auto& s : wave::ParseWave(wave)) {
    if (first) h.t_ms.push_back(kStart + static_cast<TimeMs>(s.t_s * 1000));
    column.push_back(s.value);
  }
  column.resize(h.size(), static_cast<float>(kMissing));
  return *this;
}

model::Recording RecordingBuilder::Build() {
  std::stable_sort(r_.processes.begin(), r_.processes.end(),
                   [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
  return r_;
}

FixedSource::FixedSource(model::Recording r, const std::vector<double>& cuts_s) : r_(std::move(r)) {
  model::TimeRange all{INT64_MAX, INT64_MIN};
  for (const auto& g : r_.gpus) {
    cards_.push_back(g.card);
    if (g.t_ms.empty()) continue;
    all.from = std::min(all.from, g.t_ms.front());
    all.to = std::max(all.to, g.t_ms.back());
  }
  for (const auto& h : r_.hosts) {  // cards without a reading: the host tells when somebody looked
    if (all.from <= all.to || h.t_ms.empty()) continue;
    all = {h.t_ms.front(), h.t_ms.back()};
  }
  TimeMs from = all.from;
  for (const double c : cuts_s) {
    const TimeMs cut = kStart + static_cast<TimeMs>(c * 1000);
    pieces_.push_back({from, cut});
    from = cut;
  }
  pieces_.push_back({from, all.to});
}

Result<model::Recording> FixedSource::Read(size_t piece) const {
  if (pieces_.size() == 1) return r_;
  const model::TimeRange range = pieces_[piece];
  model::Recording out = r_;
  for (auto& g : out.gpus) {
    // One sample at or before `from`, then (from, to], as the day-file reader does.
    const auto first = std::upper_bound(g.t_ms.begin(), g.t_ms.end(), range.from) - g.t_ms.begin();
    const auto a = static_cast<size_t>(std::max<std::ptrdiff_t>(0, first - 1));
    const auto b = static_cast<size_t>(std::upper_bound(g.t_ms.begin(), g.t_ms.end(), range.to) - g.t_ms.begin());
    const auto cut = [&](auto* v) {
      if (v->empty()) return;
      v->erase(v->begin() + static_cast<std::ptrdiff_t>(b), v->end());
      v->erase(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(a));
    };
    for (auto& c : g.columns) cut(&c);
    cut(&g.energy_j);
    cut(&g.t_ms);
  }
  std::erase_if(out.processes, [&](const auto& p) { return p.t_ms <= range.from || p.t_ms > range.to; });
  return out;
}

Analysis Judge(model::Recording r, const std::vector<double>& cuts_s) {
  const FixedSource source(std::move(r), cuts_s);
  Result<Analysis> a = Analyze(source, {});
  SAWBILL_CHECK(a.ok());
  return std::move(a).value();
}

const Finding* Find(const Analysis& a, model::FindingId id) {
  for (const Finding& f : a.findings) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

std::string Names(const Analysis& a) {
  std::string out;
  for (const Finding& f : a.findings)
    out += std::string(model::Name(f.id)) + (f.cause ? ":" + std::string(model::Name(*f.cause)) : "") + " ";
  return out;
}

std::string Repeat(const std::string& wave, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += wave + " ";
  return out;
}

}  // namespace sawbill::analysis
