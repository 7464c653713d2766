// SPDX-License-Identifier: Apache-2.0
#include "ingest/prom_series.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "ingest/prom_cards.h"
#include "ingest/prom_host.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using prom::Meaning;
using prom::Range;
using prom::Target;

constexpr size_t kMostOwners = 100'000;
constexpr size_t kMostUnknown = 1000;

bool IsOfCard(const Meaning& m) { return m.target != Target::kHost && m.target != Target::kNode; }
bool IsDcgm(const Meaning& m) { return m.family.front() == 'd'; }

std::string OwnerKey(const prom::CardLabels& l, bool card) {
  std::string key = l.node;
  if (!card) return "h/" + key;
  for (const std::string* part : {&l.gpu, &l.uuid, &l.name, &l.driver, &l.profile}) key.append(1, '\n').append(*part);
  return key + "\n" + (l.instance ? std::to_string(*l.instance) : "-") + "\n" +
         std::to_string(static_cast<int>(l.node_told));
}

}  // namespace

size_t PromSeries::OwnerOf(const prom::CardLabels& labels, bool card) {
  const auto [at, fresh] = owner_of_.try_emplace(OwnerKey(labels, card), owners_.size());
  if (fresh) {
    owners_.emplace_back();
    owners_.back().labels = labels;
  }
  return at->second;
}

int PromSeries::Add(const prom::SeriesName& name) {
  if (name.name.empty()) {
    nameless_ = true;
    return -1;
  }
  const Meaning* meaning = prom::FindSeries(name.name);
  if (meaning == nullptr) {
    if (unknown_.size() < kMostUnknown) unknown_.emplace(name.name, true);
    return -1;
  }
  const prom::CardLabels labels = prom::ReadCardLabels(name);
  const bool card = IsOfCard(*meaning);
  if (card && !labels.names_card()) return -1;  // of a switch
  if (owners_.size() >= kMostOwners) return -1;
  if (workload_.empty()) workload_ = labels.workload;
  PromOneSeries s;
  s.meaning = meaning;
  s.owner = OwnerOf(labels, card);
  const auto [heading, fresh] = heading_of_.try_emplace(name.name, headings_.size());
  if (fresh) headings_.push_back({name.name, meaning, meaning->factor, false});
  s.heading = heading->second;
  for (const char* part : {"pid", "cpu", "device"}) {
    if (s.part.empty() && !(card && *part == 'd')) s.part = std::string(name.Label(part));
  }
  s.mode = std::string(name.Label(meaning->target == Target::kProcess ? "process_name" : "mode"));
  // The same series with another pod or job among its labels goes on where it was.
  const std::string key = std::to_string(s.owner) + "/" + std::to_string(s.heading) + "/" + s.part + "/" + s.mode;
  const auto [at, added] = series_of_.try_emplace(key, series_.size());
  if (added) series_.push_back(std::move(s));
  return static_cast<int>(at->second);
}

int64_t PromSeries::Settle(const std::vector<TimeMs>& page_times) {
  int64_t lost = 0;
  for (PromOneSeries& s : series_) {
    size_t kept = 0;
    for (size_t i = 0; i < s.t_ms.size(); ++i) {
      TimeMs t = s.t_ms[i];
      const TimeMs page = t >= Page(0) ? t - Page(0) : -1;
      if (page >= 0 && page < static_cast<TimeMs>(page_times.size())) t = page_times[static_cast<size_t>(page)];
      if (t == INT64_MIN) {
        ++lost;
        continue;
      }
      s.t_ms[kept] = t;
      s.values[kept++] = s.values[i];
    }
    s.t_ms.resize(kept);
    s.values.resize(kept);
  }
  return lost;
}

/// In the catalogue's unit; NaN for blanks, and for what is no number.
double PromSeries::Sound(const PromOneSeries& s, double value) {
  if (std::isinf(value)) {
    out_->quality.Count(Odd::kOutOfRange, context_.file + ": " + headings_[s.heading].name);
    return kMissing;
  }
  // A7: a blank taken as a number was 1.4e16 % elsewhere.
  if (IsDcgm(*s.meaning) && IsPresent(value) && prom::IsDcgmBlank(value)) {
    out_->quality.Count(Odd::kNotSupported, context_.file + ": " + headings_[s.heading].name);
    return kMissing;
  }
  if (s.meaning->target == Target::kCard && static_cast<GpuMetric>(s.meaning->what) == GpuMetric::kThrottle)
    return prom::ThrottleOf(value);
  return value * headings_[s.heading].factor;
}

/// Names say what a value is, and ranges whether that can be so (A6: ratios and percentages were mixed up both ways).
void PromSeries::DecideRanges() {
  std::vector<double> most(headings_.size(), 0);
  std::vector<bool> fractions(headings_.size(), false);
  for (const PromOneSeries& s : series_) {
    for (const double v : s.values) {
      if (!std::isfinite(v) || prom::IsDcgmBlank(v)) continue;
      most[s.heading] = std::max(most[s.heading], v);
      if (v != std::floor(v)) fractions[s.heading] = true;
    }
  }
  for (size_t i = 0; i < headings_.size(); ++i) {
    Heading& h = headings_[i];
    // Counters of cycles give 1.002 at times; that is 1.
    const bool percent = h.meaning->range == Range::kPercentIfLarge && most[i] > 1.05 && most[i] <= 100.5;
    const bool ratio = h.meaning->range == Range::kRatioIfSmall && most[i] <= 1 && fractions[i];
    h.by_range = percent || ratio;
    if (percent) h.factor = h.meaning->factor / 100;
    if (ratio) h.factor = h.meaning->factor * 100;
  }
}

void PromSeries::TakeFacts() {
  for (const PromOneSeries& s : series_) {
    PromOwner& owner = owners_[s.owner];
    const bool used =
        s.meaning->target == Target::kCard && static_cast<GpuMetric>(s.meaning->what) == GpuMetric::kMemUsedMb;
    if (s.meaning->target != Target::kFact && !used) continue;
    double& fact = used ? owner.used_mb : owner.facts[static_cast<size_t>(s.meaning->what)];
    for (size_t i = 0; IsMissing(fact) && i < s.values.size(); ++i) fact = Sound(s, s.values[i]);
  }
}

void PromSeries::PutCards(Samples* samples, const std::vector<bool>& parents) {
  const auto slot = [](const PromOneSeries& s, int card) { return std::pair(card, s.meaning->what); };
  std::set<std::pair<int, int>> first;
  for (const PromOneSeries& s : series_) {
    if (s.meaning->target == Target::kCard && !s.meaning->second && !s.values.empty())
      first.insert(slot(s, owners_[s.owner].card));
  }
  for (PromOneSeries& s : series_) {
    if (s.meaning->target != Target::kCard) continue;
    const PromOwner& owner = owners_[s.owner];
    const auto metric = static_cast<GpuMetric>(s.meaning->what);
    if (owner.labels.instance && s.meaning->whole_card) continue;
    // A5: a card that is divided has no utilisation of its own; some exporters print 0.
    if (parents[static_cast<size_t>(owner.card)] && (metric == GpuMetric::kSmUtil || metric == GpuMetric::kMemUtil))
      continue;
    if (s.meaning->second && first.count(slot(s, owner.card)) > 0) continue;
    const int card = number_[static_cast<size_t>(owner.card)];
    const bool ratio = model::Info(metric).max == 1;
    for (size_t i = 0; i < s.values.size(); ++i) {
      double v = Sound(s, s.values[i]);
      if (ratio && v > 1 && v <= 1.05) v = 1;
      IsMissing(v) ? samples->Touch(card, s.t_ms[i]) : samples->Set(card, s.t_ms[i], metric, v);
    }
    if (s.values.size() <= 1) continue;  // Explain() shows it
    s.t_ms = {};
    s.values = std::vector<double>(2, kMissing);
  }
}

void PromSeries::PutProcesses(Samples* samples) {
  for (const PromOneSeries& s : series_) {
    const std::optional<int64_t> pid = ParseInt(s.part);
    if (s.meaning->target != Target::kProcess || !pid || *pid <= 0) continue;
    const PromOwner& owner = owners_[s.owner];
    for (size_t i = 0; i < s.values.size(); ++i) {
      model::ProcessValues values;
      values.fill(kMissing);
      values[static_cast<size_t>(s.meaning->what)] = Sound(s, s.values[i]);
      samples->Process(s.t_ms[i], number_[static_cast<size_t>(owner.card)], owner.labels.node, *pid,
                       ProcessName(s.mode), "", values);
    }
  }
}

/// XID_ERRORS is the last one, not how many: only a change tells that one came, and the first stood there before.
void PromSeries::PutEvents(const std::vector<model::CardInfo>& cards) {
  for (const PromOneSeries& s : series_) {
    if (s.meaning->target != Target::kFact || static_cast<prom::Fact>(s.meaning->what) != prom::Fact::kXid) continue;
    const model::CardInfo& card = cards[static_cast<size_t>(owners_[s.owner].card)];
    for (size_t i = 1; i < s.values.size(); ++i) {
      const double v = s.values[i];
      if (!(v > 0 && v < 1e6) || v == s.values[i - 1] || s.t_ms[i] <= s.t_ms[i - 1]) continue;
      out_->events.push_back({s.t_ms[i], card.node, "xid", card.gpu, fmt::format("xid={}", static_cast<int64_t>(v))});
    }
  }
  std::stable_sort(out_->events.begin(), out_->events.end(),
                   [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
}

/// What a scrape of one moment says, for `--explain-format`: "0: 91, 1: 0".
std::string PromSeries::Values(size_t heading, const std::vector<model::CardInfo>& cards) const {
  constexpr size_t kMost = 8;
  std::string out;
  size_t n = 0;
  for (const PromOneSeries& s : series_) {
    if (s.heading != heading || s.values.empty()) continue;
    if (s.values.size() > 1 || s.meaning->target == Target::kNode || s.meaning->target == Target::kProcess) return {};
    if (++n > kMost) return out + ", ...";
    const int card = owners_[s.owner].card;
    if (!out.empty()) out += ", ";
    if (card >= 0) out += cards[static_cast<size_t>(card)].gpu + ": ";
    out += FormatShortest(std::round(s.values[0] * headings_[heading].factor * 1e4) / 1e4);  // in our unit
  }
  return out;
}

std::string PromSeries::How(const Heading& h) const {
  const Lang lang = context_.lang;
  if (h.by_range) {
    const bool percent = h.meaning->range == Range::kPercentIfLarge;
    return Tr(lang, Msg::kIngestPromHowRange, h.meaning->family,
              Tr(lang, percent ? Msg::kIngestPromPercent : Msg::kIngestPromRatio));
  }
  const Msg how = h.meaning->target == Target::kFact ? Msg::kIngestPromHowFact
                  : h.meaning->counter               ? Msg::kIngestPromHowCounter
                                                     : Msg::kIngestPromHowKnown;
  return Tr(lang, how, h.meaning->family);
}

void PromSeries::Explain(const std::vector<model::CardInfo>& cards, Explanation* e) const {
  static constexpr const char* kFactNames[] = {"memory total", "memory free",  "memory reserved",
                                               "power limit",  "SM clock max", "xid",
                                               "ECC errors",   "card",         "card"};
  static constexpr const char* kNodeNames[] = {"cpu_util, cpu_iowait", "mem_total_mb", "mem_used_mb", "disk_read_mb_s",
                                               "disk_write_mb_s",      "disk_util",    "net_rx_mb_s", "net_tx_mb_s",
                                               "psi_cpu_some",         "psi_io_some",  "psi_mem_some"};
  int column = 0;
  for (size_t i = 0; i < headings_.size(); ++i) {
    const Heading& h = headings_[i];
    ColumnTaken c{++column, h.name, "", "", How(h)};
    const auto what = static_cast<size_t>(h.meaning->what);
    switch (h.meaning->target) {
      case Target::kCard:
        c.taken_as = model::Info(static_cast<GpuMetric>(what)).name;
        c.unit = model::Info(static_cast<GpuMetric>(what)).unit;
        break;
      case Target::kHost:
        c.taken_as = model::Info(static_cast<HostMetric>(what)).name;
        c.unit = model::Info(static_cast<HostMetric>(what)).unit;
        break;
      case Target::kFact:
        c.taken_as = kFactNames[what];
        break;
      case Target::kNode:
        c.taken_as = kNodeNames[what];
        break;
      case Target::kProcess:
        c.taken_as = "gpu_mem_mb";
        break;
    }
    if (const std::string values = Values(i, cards); !values.empty()) c.how += " (" + values + ")";
    e->columns.push_back(std::move(c));
  }
  for (const auto& [name, unused] : unknown_)
    e->columns.push_back({++column, Sanitize(name), "", "", Tr(context_.lang, Msg::kIngestHowUnknown)});
}

void PromSeries::Note(const std::vector<model::CardInfo>& cards) {
  const Lang lang = context_.lang;
  for (const Heading& h : headings_) {
    if (!h.by_range) continue;
    const bool percent = h.meaning->range == Range::kPercentIfLarge;
    out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteRange, h.name,
                             Tr(lang, percent ? Msg::kIngestPromPercent : Msg::kIngestPromRatio)));
  }
  const bool divided = std::any_of(cards.begin(), cards.end(), [](const auto& c) { return !c.parent_uuid.empty(); });
  const bool whole = std::any_of(series_.begin(), series_.end(), [&](const PromOneSeries& s) {
    return owners_[s.owner].labels.instance && s.meaning->whole_card;
  });
  if (divided && whole) out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteInstances));
  // D1: no owner is made of a label that outlives its pod.
  if (!workload_.empty()) out_->notes.push_back(Tr(lang, Msg::kIngestPromNotePods, workload_));
}

Status PromSeries::Finish(Explanation* explanation) {
  if (series_.empty()) {
    if (nameless_) return Status::Unsupported(Tr(context_.lang, Msg::kIngestPromNoNames, context_.file));
    const std::string such = unknown_.empty() ? "-" : Sanitize(unknown_.begin()->first);
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestPromNoSeries, context_.file, unknown_.size(), such));
  }
  DecideRanges();
  TakeFacts();
  std::vector<bool> is_card(owners_.size(), false);
  for (const PromOneSeries& s : series_) is_card[s.owner] = IsOfCard(*s.meaning);
  const PromCards cards = ResolveCards(&owners_, is_card);
  Samples samples(context_, out_);
  for (const model::CardInfo& c : cards.cards) number_.push_back(samples.Card(c));
  std::set<std::string> nodes;
  for (const model::CardInfo& c : cards.cards) nodes.insert(c.node);
  // A lone host beside the cards of a lone node is that node, by whichever name its exporter is asked.
  std::set<size_t> hosts;
  for (size_t i = 0; i < owners_.size(); ++i) {
    if (!is_card[i]) hosts.insert(i);
  }
  bool counted = true;
  for (const size_t i : hosts) {
    const bool lone = hosts.size() == 1 && nodes.size() == 1;
    const int host = samples.Host(lone ? *nodes.begin() : owners_[i].labels.node);
    std::vector<const PromOneSeries*> counters;
    for (const PromOneSeries& s : series_) {
      if (s.owner != i) continue;
      if (s.meaning->target == Target::kNode) counters.push_back(&s);
      if (s.meaning->target != Target::kHost) continue;
      for (size_t k = 0; k < s.values.size(); ++k)
        samples.SetHost(host, s.t_ms[k], static_cast<HostMetric>(s.meaning->what), Sound(s, s.values[k]));
    }
    counted = PutNodeSeries(counters, host, &samples) && counted;
  }
  PutCards(&samples, cards.parents);
  PutProcesses(&samples);
  PutEvents(cards.cards);
  if (!unknown_.empty())
    out_->quality.Count(Odd::kUnknownColumn, unknown_.begin()->first, static_cast<int64_t>(unknown_.size()));
  Explain(cards.cards, explanation);
  explanation->cards = Tr(context_.lang, Msg::kIngestPromCards, cards.cards.size(), std::max<size_t>(1, nodes.size()));
  Note(cards.cards);
  if (!counted) out_->notes.push_back(Tr(context_.lang, Msg::kIngestPromNoteCounters));
  if (!cards.exporter_pod.empty())
    out_->notes.push_back(Tr(context_.lang, Msg::kIngestPromNoteExporterPod, cards.exporter_pod));
  if (cards.masked) out_->notes.push_back(Tr(context_.lang, Msg::kIngestNoteMasked));
  return samples.Finish(explanation);
}

}  // namespace sawbill::ingest
