// SPDX-License-Identifier: Apache-2.0
#include "ingest/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingest/assemble.h"

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using model::GpuMetric;
using model::Odd;

void AddFacts(const CardInfo& from, CardInfo* to) {
  for (std::string CardInfo::* fact : {&CardInfo::gpu, &CardInfo::uuid, &CardInfo::name, &CardInfo::driver,
                                       &CardInfo::label, &CardInfo::parent_uuid}) {
    if ((to->*fact).empty()) to->*fact = from.*fact;
  }
  for (std::optional<double> CardInfo::* fact :
       {&CardInfo::memory_total_mb, &CardInfo::power_limit_w, &CardInfo::sm_clock_max_mhz, &CardInfo::util_window_s,
        &CardInfo::share}) {
    if (!(to->*fact)) to->*fact = from.*fact;
  }
}

std::string Key(const std::string& node, const std::string& own) { return node + '\n' + own; }

/// "2" before "10", "0.1.0" behind "0".
bool LabelBefore(const std::string& a, const std::string& b) {
  const auto head = [](const std::string& s) { return s.find_first_not_of("0123456789"); };
  const size_t an = std::min(head(a), a.size()), bn = std::min(head(b), b.size());
  if (an == bn) return a < b;
  return an > 0 && bn > 0 ? an < bn : a < b;
}

}  // namespace

int Samples::Card(const CardInfo& card) {
  const auto known = [&](const auto& map, const std::string& own) {
    const auto at = own.empty() ? map.end() : map.find(Key(card.node, own));
    return at == map.end() ? -1 : at->second;
  };
  int at = known(by_uuid_, card.uuid);
  if (at < 0) {
    const int same_label = known(by_label_, card.gpu);
    // Another uuid under a label that is taken is another card: indices move when one is lost.
    if (same_label >= 0 && (card.uuid.empty() || cards_[static_cast<size_t>(same_label)].info.uuid.empty())) {
      at = same_label;
    }
  }
  if (at < 0) {
    at = static_cast<int>(cards_.size());
    cards_.emplace_back();
    cards_.back().info.node = card.node;
  }
  if (!card.uuid.empty()) by_uuid_.emplace(Key(card.node, card.uuid), at);
  if (!card.gpu.empty()) by_label_[Key(card.node, card.gpu)] = at;
  AddFacts(card, &cards_[static_cast<size_t>(at)].info);
  return at;
}

std::string Samples::Place(const CardInfo& card) const {
  return context_.file + ": gpu " + (card.gpu.empty() ? card.uuid : card.gpu);
}

template <typename MetricInfoType>
bool Samples::Possible(const MetricInfoType& info, double value) {
  if (value >= info.min && value <= info.max) return true;
  out_->quality.Count(Odd::kOutOfRange, context_.file + ": " + info.name);
  return false;
}

void Samples::Set(int card, TimeMs t, GpuMetric metric, double value) {
  if (IsMissing(value)) return;
  if (!Possible(model::Info(metric), value)) return Touch(card, t);
  cards_[static_cast<size_t>(card)].metrics[static_cast<size_t>(metric)].Add(t, value);
  ++readings_;
}

void Samples::Touch(int card, TimeMs t) {
  auto& touched = cards_[static_cast<size_t>(card)].touched;
  if (touched.empty() || touched.back() != t) touched.push_back(t);
}

int Samples::Host(const std::string& node) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].node == node) return static_cast<int>(i);
  }
  hosts_.emplace_back();
  hosts_.back().node = node;
  return static_cast<int>(hosts_.size()) - 1;
}

void Samples::SetHost(int host, TimeMs t, model::HostMetric metric, double value) {
  if (IsMissing(value) || !Possible(model::Info(metric), value)) return;
  hosts_[static_cast<size_t>(host)].metrics[static_cast<size_t>(metric)].Add(t, value);
  ++readings_;
}

void Samples::Process(TimeMs t, int card, const std::string& node, int64_t pid, std::string_view name,
                      std::string_view user, const model::ProcessValues& values) {
  model::ProcessRow row;
  row.t_ms = t;
  row.card = card;
  row.host = -1;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].node == node) row.host = static_cast<int32_t>(i);
  }
  row.pid = pid;
  row.name = out_->strings.Intern(name);
  row.user = out_->strings.Intern(user);
  for (size_t m = 0; m < model::kProcessMetrics; ++m) {
    const model::MetricInfo& info = model::Info(static_cast<model::ProcessMetric>(m));
    const bool there = !IsMissing(values[m]) && Possible(info, values[m]);
    row.values[m] = static_cast<float>(there ? values[m] : kMissing);
  }
  row.started_s = values[static_cast<size_t>(model::ProcessMetric::kStarted)];
  out_->processes.push_back(row);
}

int64_t Samples::Sort(Series* series) {
  if (series->ordered) return 0;
  std::vector<uint32_t> order(series->t_ms.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return series->t_ms[a] < series->t_ms[b]; });
  Series sorted;
  int64_t twice = 0;
  for (const uint32_t i : order) {
    if (!sorted.t_ms.empty() && sorted.t_ms.back() == series->t_ms[i]) {
      ++twice;
      continue;
    }
    sorted.Add(series->t_ms[i], series->values[i]);
  }
  *series = std::move(sorted);
  return twice;
}

std::vector<TimeMs> Samples::AllTimes(const std::vector<Series>& metrics, std::vector<TimeMs> more) {
  std::sort(more.begin(), more.end());
  more.erase(std::unique(more.begin(), more.end()), more.end());
  std::vector<TimeMs> all = std::move(more), both;
  for (const Series& s : metrics) {
    if (s.t_ms.empty() || s.t_ms == all) continue;
    both.clear();
    std::set_union(all.begin(), all.end(), s.t_ms.begin(), s.t_ms.end(), std::back_inserter(both));
    all.swap(both);
  }
  return all;
}

namespace {
/// REQUIRES: every time of the series stands in `all`, both ascending.
template <typename Value>
std::vector<Value> Spread(const std::vector<TimeMs>& all, const std::vector<TimeMs>& t_ms,
                          const std::vector<double>& values) {
  std::vector<Value> column(all.size(), static_cast<Value>(kMissing));
  for (size_t i = 0, k = 0; k < t_ms.size(); ++k) {
    while (all[i] < t_ms[k]) ++i;
    column[i] = static_cast<Value>(values[k]);
  }
  return column;
}
}  // namespace

model::GpuTrack Samples::TrackOf(CardSeries* card) {
  int64_t twice = 0;
  for (Series& s : card->metrics) twice += Sort(&s);
  model::GpuTrack track;
  track.card = card->info;
  track.t_ms = AllTimes(card->metrics, std::move(card->touched));
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    Series& s = card->metrics[m];
    if (s.t_ms.empty()) continue;
    if (static_cast<GpuMetric>(m) == GpuMetric::kEnergyJ) {
      track.energy_j = Spread<double>(track.t_ms, s.t_ms, s.values);
    } else {
      track.columns[m] = Spread<float>(track.t_ms, s.t_ms, s.values);
    }
    s = Series();
  }
  if (twice > 0) out_->quality.Count(Odd::kDuplicateSample, Place(card->info), twice);
  return track;
}

model::HostTrack Samples::TrackOf(HostSeries* host) {
  int64_t twice = 0;
  for (Series& s : host->metrics) twice += Sort(&s);
  model::HostTrack track;
  track.node = host->node;
  track.t_ms = AllTimes(host->metrics, {});
  for (size_t m = 0; m < model::kHostMetrics; ++m) {
    Series& s = host->metrics[m];
    if (!s.t_ms.empty()) track.columns[m] = Spread<float>(track.t_ms, s.t_ms, s.values);
  }
  if (twice > 0) out_->quality.Count(Odd::kDuplicateSample, context_.file + ": host " + host->node, twice);
  return track;
}

Status Samples::Finish(Explanation* explanation) {
  const bool host_read = std::any_of(hosts_.begin(), hosts_.end(), [](const HostSeries& h) {
    return std::any_of(h.metrics.begin(), h.metrics.end(), [](const Series& s) { return !s.t_ms.empty(); });
  });
  if (cards_.empty() && !host_read && out_->processes.empty()) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoReading, context_.file));
  }
  std::vector<int32_t> order(cards_.size()), place(cards_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const CardInfo &x = cards_[static_cast<size_t>(a)].info, &y = cards_[static_cast<size_t>(b)].info;
    return x.node != y.node ? x.node < y.node : LabelBefore(x.gpu, y.gpu);
  });
  const auto first = static_cast<int32_t>(out_->gpus.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = first + static_cast<int32_t>(i);
    out_->gpus.push_back(TrackOf(&cards_[static_cast<size_t>(order[i])]));
    CountOdds(out_->gpus.back(), context_, &out_->quality);
  }
  for (HostSeries& h : hosts_) out_->hosts.push_back(TrackOf(&h));
  for (model::ProcessRow& p : out_->processes) {
    if (p.card >= 0) p.card = place[static_cast<size_t>(p.card)];
  }
  std::stable_sort(out_->processes.begin(), out_->processes.end(),
                   [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
  if (explanation->rows == 0) {
    for (const model::GpuTrack& g : out_->gpus) explanation->rows += static_cast<int64_t>(g.size());
  }
  return Status::Ok();
}

}  // namespace sawbill::ingest
