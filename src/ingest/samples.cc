// SPDX-License-Identifier: Apache-2.0
#include "ingest/samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "ingest/assemble.h"
#include "ingest/big_memory.h"
#include "ingest/join_nearby.h"

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using model::GpuMetric;
using model::Odd;

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
  CardSeries& c = cards_[static_cast<size_t>(card)];
  if (metric == GpuMetric::kEnergyJ) {
    c.energy.Set(t, 0, value);
  } else {
    c.columns.Set(t, static_cast<size_t>(metric), value);
  }
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
  hosts_[static_cast<size_t>(host)].columns.Set(t, static_cast<size_t>(metric), value);
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

template <typename Value>
size_t Samples::Columns<Value>::Row(TimeMs t) {
  if (t_ms.empty() || t > t_ms.back()) {
    RoomForOneMore(&t_ms);
    t_ms.push_back(t);
    return at = t_ms.size() - 1;
  }
  if (t_ms[at] == t) return at;
  if (at + 1 < t_ms.size() && t_ms[at + 1] == t) return ++at;
  const auto it = std::lower_bound(t_ms.begin(), t_ms.end(), t);
  if (*it != t) return SIZE_MAX;
  return at = static_cast<size_t>(it - t_ms.begin());
}

template <typename Value>
void Samples::Columns<Value>::Set(TimeMs t, size_t metric, double v) {
  const size_t row = Row(t);
  if (row == SIZE_MAX) return late[metric].Add(t, v);
  std::vector<Value>& column = values[metric];
  if (column.size() == row) {  // nearly always: a log goes on
    RoomForOneMore(&column);
    return column.push_back(static_cast<Value>(v));
  }
  if (column.size() < row) column.resize(row + 1, static_cast<Value>(kMissing));
  if (!std::isnan(column[row])) {
    ++twice;
    return;
  }
  column[row] = static_cast<Value>(v);
}

template <typename Value>
void Samples::Columns<Value>::Settle() {
  std::vector<TimeMs> all = t_ms;
  for (const Series& s : late) all.insert(all.end(), s.t_ms.begin(), s.t_ms.end());
  if (all.size() > t_ms.size()) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (std::vector<Value>& column : values) {
      if (column.empty()) continue;
      std::vector<Value> wide(all.size(), static_cast<Value>(kMissing));
      for (size_t i = 0, k = 0; k < column.size(); ++i) {
        if (all[i] == t_ms[k]) wide[i] = column[k++];
      }
      column = std::move(wide);
    }
    t_ms = std::move(all);
    at = 0;
    for (size_t m = 0; m < late.size(); ++m) {
      for (size_t i = 0; i < late[m].t_ms.size(); ++i) Set(late[m].t_ms[i], m, late[m].values[i]);
      late[m] = Series();
    }
  }
  for (std::vector<Value>& column : values) {
    if (!column.empty()) column.resize(t_ms.size(), static_cast<Value>(kMissing));
  }
}

namespace {
/// Both, each time once. REQUIRES: both ascending.
std::vector<TimeMs> Union(std::vector<TimeMs> a, const std::vector<TimeMs>& b) {
  if (b.empty() || a == b) return a;
  std::vector<TimeMs> both;
  both.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// `column` of times `from` at the times `to`. REQUIRES: every one of `from` stands in `to`, both ascending.
template <typename Value>
std::vector<Value> Spread(const std::vector<TimeMs>& from, std::vector<Value> column, const std::vector<TimeMs>& to) {
  if (column.empty() || from.size() == to.size()) return column;
  std::vector<Value> out(to.size(), static_cast<Value>(kMissing));
  for (size_t i = 0, k = 0; k < from.size(); ++i) {
    if (to[i] == from[k]) out[i] = column[k++];
  }
  return out;
}
}  // namespace

model::GpuTrack Samples::TrackOf(CardSeries* card) {
  card->columns.Settle();
  card->energy.Settle();
  model::GpuTrack track;
  track.card = card->info;
  std::vector<TimeMs> all = std::move(card->touched);
  const std::vector<TimeMs>&rows = card->columns.t_ms, &energy_rows = card->energy.t_ms;
  if (all.empty() && (energy_rows.empty() || energy_rows == rows)) {
    track.t_ms = rows;
  } else {
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    track.t_ms = Union(Union(std::move(all), rows), energy_rows);
  }
  for (size_t m = 0; m < model::kGpuMetrics; ++m)
    track.columns[m] = Spread(rows, std::move(card->columns.values[m]), track.t_ms);
  track.energy_j = Spread(energy_rows, std::move(card->energy.values[0]), track.t_ms);
  if (const int64_t twice = card->columns.twice + card->energy.twice; twice > 0)
    out_->quality.Count(Odd::kDuplicateSample, Place(card->info), twice);
  return track;
}

model::HostTrack Samples::TrackOf(HostSeries* host) {
  host->columns.Settle();
  model::HostTrack track;
  track.node = host->node;
  track.t_ms = std::move(host->columns.t_ms);
  for (size_t m = 0; m < model::kHostMetrics; ++m) track.columns[m] = std::move(host->columns.values[m]);
  if (host->columns.twice > 0)
    out_->quality.Count(Odd::kDuplicateSample, context_.file + ": host " + host->node, host->columns.twice);
  return track;
}

Status Samples::Finish(Explanation* explanation) {
  const bool host_read =
      std::any_of(hosts_.begin(), hosts_.end(), [](const HostSeries& h) { return !h.columns.t_ms.empty(); });
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
  Joined joined;
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = first + static_cast<int32_t>(i);
    out_->gpus.push_back(TrackOf(&cards_[static_cast<size_t>(order[i])]));
    if (const Joined j = JoinNearby(&out_->gpus.back()); j.moved_ms > joined.moved_ms) joined = j;
    ingest::Finish(context_, &out_->gpus.back(), out_);
  }
  NoteJoined(joined, context_, out_);
  for (HostSeries& h : hosts_) out_->hosts.push_back(TrackOf(&h));
  for (model::ProcessRow& p : out_->processes) {
    if (p.card >= 0) p.card = place[static_cast<size_t>(p.card)];
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; };
  if (!std::is_sorted(out_->processes.begin(), out_->processes.end(), by_time))
    std::stable_sort(out_->processes.begin(), out_->processes.end(), by_time);
  if (explanation->rows == 0) {
    for (const model::GpuTrack& g : out_->gpus) explanation->rows += static_cast<int64_t>(g.size());
  }
  return Status::Ok();
}

}  // namespace sawbill::ingest
