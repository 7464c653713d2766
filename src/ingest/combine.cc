// SPDX-License-Identifier: Apache-2.0
//
// What belongs together
// ---------------------
// A bill must neither miss a card nor count one twice, and two logs that only lie in the same folder are two
// recordings. Two inputs with samples of cards are one recording when
//   - they share a card that a uuid names, and the time between them is short (a log that was rotated) or none; or
//   - they share a card by its index alone, and do not overlap with a short time between them, or hold the same samples
//     where they do (a copy, a rotated log); or
//   - they share no card and overlap in time for more than half of the shorter one (a log for each card or node).
// Short is ten minutes, or ten intervals of the slower log. Two inputs that overlap and share a card by its index alone
// may be two loggers of one card or two machines: they stay apart, which is said. Inputs of the same nodes only join:
// a node without a name fits every other.
// A stretch of samples more than a day from all others is a recording of its own, or, where it is less than a hundredth
// of all, a wrong time (a clock that was not set yet): SplitAtLongHoles().
// An input without samples of cards (host, processes, events) goes to every recording that it overlaps.
#include "ingest/combine.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "ingest/assemble.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::GpuTrack;
using model::HostTrack;
using model::Recording;
using model::TimeRange;

constexpr TimeMs kShortMs = 600'000;
constexpr TimeMs kLongHoleMs = 86'400'000;

struct Facts {
  std::optional<TimeRange> span;  // of all that it holds
  bool cards = false;
  TimeMs interval_ms = 0;
};

void Widen(TimeMs from, TimeMs to, std::optional<TimeRange>* span) {
  if (!*span) *span = TimeRange{from, to};
  (*span)->from = std::min((*span)->from, from);
  (*span)->to = std::max((*span)->to, to);
}

Facts FactsOf(const Recording& r) {
  Facts f;
  for (const GpuTrack& g : r.gpus) {
    if (g.size() == 0) continue;
    f.cards = true;
    Widen(g.t_ms.front(), g.t_ms.back(), &f.span);
    f.interval_ms = std::max(f.interval_ms, static_cast<TimeMs>(1000 * model::Cover(g.t_ms).median_interval_s));
  }
  if (f.cards) return f;
  for (const HostTrack& h : r.hosts) {
    if (h.size() > 0) Widen(h.t_ms.front(), h.t_ms.back(), &f.span);
  }
  for (const auto& p : r.processes) Widen(p.t_ms, p.t_ms, &f.span);
  for (const auto& e : r.events) Widen(e.t_ms, e.t_ms, &f.span);
  for (const auto& run : r.runs) Widen(run.t_ms, run.t_ms, &f.span);
  return f;
}

bool SameNode(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

/// 0 = no, 1 = by the index alone, 2 = by its uuid, or by its index on a node that both name.
int SameCard(const model::CardInfo& a, const model::CardInfo& b) {
  if (!SameNode(a.node, b.node)) return 0;
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid ? 2 : 0;
  if (a.gpu != b.gpu) return 0;
  return !a.node.empty() && a.node == b.node ? 2 : 1;
}

/// The same samples at the same times, as far as both go: a copy, or a log that was rotated and overlaps. Readings must
/// change in it: two idle cards of two machines may well say the same all the time.
bool SameSamples(const GpuTrack& a, const GpuTrack& b) {
  constexpr size_t kEnough = 3;
  size_t common = 0, between = 0, first = 0;
  bool varies = false;
  const TimeMs from = std::max(a.t_ms.front(), b.t_ms.front()), to = std::min(a.t_ms.back(), b.t_ms.back());
  const auto begin = [&](const GpuTrack& g) {
    return static_cast<size_t>(std::lower_bound(g.t_ms.begin(), g.t_ms.end(), from) - g.t_ms.begin());
  };
  for (size_t i = begin(a), k = begin(b); i < a.size() && k < b.size();) {
    const TimeMs t = std::min(a.t_ms[i], b.t_ms[k]);
    const bool both = a.t_ms[i] == b.t_ms[k];
    if (t >= from && t <= to) ++(both ? common : between);
    if (both && common == 1) first = i;
    for (size_t m = 0; both && m < model::kGpuMetrics; ++m) {
      const float x = a.At(static_cast<GpuMetric>(m), i), y = b.At(static_cast<GpuMetric>(m), k);
      if (IsPresent(x) && IsPresent(y) && x != y) return false;
      varies = varies || (IsPresent(x) && x != a.At(static_cast<GpuMetric>(m), first));
    }
    const TimeMs ti = a.t_ms[i], tk = b.t_ms[k];
    if (ti <= tk) ++i;
    if (tk <= ti) ++k;
  }
  return common >= kEnough && between == 0 && varies;
}

struct Pair {
  bool together = false;
  const GpuTrack* unclear = nullptr;  // a card that both hold at one time, and that may be two cards
};

Pair Judge(const Recording& a, const Facts& fa, const Recording& b, const Facts& fb) {
  Pair p;
  const TimeMs overlap = std::min(fa.span->to, fb.span->to) - std::max(fa.span->from, fb.span->from);
  int same = 0;
  bool copies = true;  // of every card that both hold
  const GpuTrack* shared = nullptr;
  for (const GpuTrack& x : a.gpus) {
    for (const GpuTrack& y : b.gpus) {
      if (x.size() == 0 || y.size() == 0) continue;
      const int s = SameCard(x.card, y.card);
      if (s > same) shared = &x;
      if (s == 1 && overlap > 0) copies = copies && SameSamples(x, y);
      same = std::max(same, s);
    }
  }
  const TimeMs close = std::max(kShortMs, 10 * std::max(fa.interval_ms, fb.interval_ms));
  if (same == 2) {
    p.together = -overlap <= close;
  } else if (same == 1) {
    p.together = overlap <= 0 ? -overlap <= close : copies;
    if (overlap > 0 && !copies) p.unclear = shared;
  } else {
    const TimeMs shorter = std::min(fa.span->to - fa.span->from, fb.span->to - fb.span->from);
    p.together = overlap >= 0 && 2 * overlap >= shorter;
  }
  return p;
}

/// Metrics that `base` lacks, from the sample of `other` that speaks for the same time: its next, if near enough.
void Complement(const GpuTrack& other, GpuTrack* base) {
  const auto near = static_cast<TimeMs>(1000 * model::kMaxIntervalFactor * model::Cover(other.t_ms).median_interval_s);
  const auto fill = [&](const auto& from, auto* to) {
    using Value = typename std::remove_reference_t<decltype(*to)>::value_type;
    if (from.empty() || !to->empty()) return;
    to->assign(base->size(), static_cast<Value>(kMissing));
    for (size_t i = 0, k = 0; i < base->size(); ++i) {
      while (k < other.size() && other.t_ms[k] < base->t_ms[i]) ++k;
      if (k < other.size() && other.t_ms[k] - base->t_ms[i] <= near) (*to)[i] = from[k];
    }
  };
  for (size_t m = 0; m < model::kGpuMetrics; ++m) fill(other.columns[m], &base->columns[m]);
  fill(other.energy_j, &base->energy_j);
}

/// Leaves out the samples of `t` within [from, to].
void CutOut(TimeMs from, TimeMs to, GpuTrack* t) {
  const auto cut = [&](auto* v) {
    if (v->empty()) return;
    size_t kept = 0;
    for (size_t i = 0; i < t->t_ms.size(); ++i) {
      if (t->t_ms[i] < from || t->t_ms[i] > to) (*v)[kept++] = (*v)[i];
    }
    v->resize(kept);
  };
  for (auto& c : t->columns) cut(&c);
  cut(&t->energy_j);
  std::erase_if(t->t_ms, [&](TimeMs at) { return at >= from && at <= to; });
}

void Append(const GpuTrack& from, GpuTrack* to) {
  const size_t n = to->size();
  const auto append = [&](const auto& source, auto* column) {
    using Value = typename std::remove_reference_t<decltype(*column)>::value_type;
    if (source.empty() && column->empty()) return;
    column->resize(n, static_cast<Value>(kMissing));
    if (source.empty()) column->resize(n + from.size(), static_cast<Value>(kMissing));
    column->insert(column->end(), source.begin(), source.end());
  };
  for (size_t m = 0; m < model::kGpuMetrics; ++m) append(from.columns[m], &to->columns[m]);
  append(from.energy_j, &to->energy_j);
  to->t_ms.insert(to->t_ms.end(), from.t_ms.begin(), from.t_ms.end());
}

size_t Within(const GpuTrack& t, TimeMs from, TimeMs to) {
  return static_cast<size_t>(std::upper_bound(t.t_ms.begin(), t.t_ms.end(), to) -
                             std::lower_bound(t.t_ms.begin(), t.t_ms.end(), from));
}

/// One group's recording, input by input.
class Merger {
 public:
  Merger(Lang lang, Recording first) : lang_(lang), out_(std::move(first)) {}
  Recording Take() {
    std::stable_sort(out_.processes.begin(), out_.processes.end(),
                     [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
    std::stable_sort(out_.events.begin(), out_.events.end(),
                     [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
    std::stable_sort(out_.runs.begin(), out_.runs.end(), [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
    return std::move(out_);
  }
  void Add(const Recording& r) {
    std::vector<int32_t> cards, hosts;
    for (const GpuTrack& g : r.gpus) cards.push_back(AddCard(g));
    for (const HostTrack& h : r.hosts) hosts.push_back(AddHost(h));
    const auto mapped = [](const std::vector<int32_t>& map, int32_t i) {
      return i < 0 ? -1 : map[static_cast<size_t>(i)];
    };
    for (model::ProcessRow p : r.processes) {
      p.card = mapped(cards, p.card);
      p.host = mapped(hosts, p.host);
      for (uint32_t model::ProcessRow::* id :
           {&model::ProcessRow::user, &model::ProcessRow::name, &model::ProcessRow::job})
        p.*id = out_.strings.Intern(r.strings.Get(p.*id));
      out_.processes.push_back(p);
    }
    out_.runs.insert(out_.runs.end(), r.runs.begin(), r.runs.end());
    out_.events.insert(out_.events.end(), r.events.begin(), r.events.end());
    out_.simulated = out_.simulated || r.simulated;
    out_.quality.Merge(r.quality);
    for (const std::string& note : r.notes) AddNote(note);
    if ((", " + out_.format + ", ").find(", " + r.format + ", ") == std::string::npos) out_.format += ", " + r.format;
  }

 private:
  void AddNote(const std::string& note) {
    if (std::find(out_.notes.begin(), out_.notes.end(), note) == out_.notes.end()) out_.notes.push_back(note);
  }

  int32_t AddCard(const GpuTrack& g) {
    size_t at = 0;
    // By uuid first: a card that moved to another's index is still itself.
    for (const int wanted : {2, 1}) {
      for (at = 0; at < out_.gpus.size() && SameCard(out_.gpus[at].card, g.card) != wanted;) ++at;
      if (at < out_.gpus.size()) break;
    }
    if (at == out_.gpus.size()) {
      out_.gpus.push_back(g);
      return static_cast<int32_t>(at);
    }
    Join(g, &out_.gpus[at]);
    return static_cast<int32_t>(at);
  }

  void Join(const GpuTrack& g, GpuTrack* to) {
    AddFacts(g.card, &to->card);
    if (g.size() == 0) return;
    GpuTrack other = g;
    const bool both = to->size() > 0;
    const TimeMs from = both ? std::max(to->t_ms.front(), other.t_ms.front()) : 0;
    const TimeMs end = both ? std::min(to->t_ms.back(), other.t_ms.back()) : -1;
    if (from <= end) {  // at the same time: one of them is read there
      if (Within(*to, from, end) < Within(other, from, end)) {
        std::swap(to->t_ms, other.t_ms);
        std::swap(to->columns, other.columns);
        std::swap(to->energy_j, other.energy_j);
      }
      const std::string interval = FormatDuration(model::Cover(to->t_ms).median_interval_s, lang_);
      if (!SameSamples(*to, other)) AddNote(Tr(lang_, Msg::kIngestNoteCardInTwoFiles, to->card.gpu, interval));
      Complement(other, to);
      CutOut(from, end, &other);
    }
    Append(other, to);
    model::SortAndDeduplicate(to, &out_.quality);
  }

  int32_t AddHost(const HostTrack& h) {
    for (size_t i = 0; i < out_.hosts.size(); ++i) {
      HostTrack& to = out_.hosts[i];
      if (!SameNode(to.node, h.node)) continue;
      if (to.node.empty()) to.node = h.node;
      const size_t n = to.size();
      for (size_t m = 0; m < model::kHostMetrics; ++m) {
        auto& column = to.columns[m];
        if (column.empty() && h.columns[m].empty()) continue;
        column.resize(n, static_cast<float>(kMissing));
        column.insert(column.end(), h.columns[m].begin(), h.columns[m].end());
        column.resize(n + h.size(), static_cast<float>(kMissing));
      }
      to.t_ms.insert(to.t_ms.end(), h.t_ms.begin(), h.t_ms.end());
      model::SortAndDeduplicate(&to, &out_.quality);
      return static_cast<int32_t>(i);
    }
    out_.hosts.push_back(h);
    return static_cast<int32_t>(out_.hosts.size()) - 1;
  }

  Lang lang_;
  Recording out_;
};

/// Groups of inputs, joined pair by pair unless that would bring two together that may not be.
class Groups {
 public:
  explicit Groups(size_t n) : of_(n) {
    for (size_t i = 0; i < n; ++i) {
      of_[i] = i;
      members_.push_back({i});
    }
  }
  void Forbid(size_t a, size_t b) { forbidden_.insert(std::minmax(a, b)); }
  void Join(size_t a, size_t b) {
    const size_t x = std::min(of_[a], of_[b]), y = std::max(of_[a], of_[b]);
    if (x == y || Clash(x, y)) return;
    for (const size_t i : members_[y]) of_[i] = x;
    members_[x].insert(members_[x].end(), members_[y].begin(), members_[y].end());
    members_[y].clear();
  }
  const std::vector<std::vector<size_t>>& members() const { return members_; }

 private:
  bool Clash(size_t x, size_t y) const {
    if (forbidden_.empty()) return false;
    for (const size_t i : members_[x]) {
      for (const size_t k : members_[y]) {
        if (forbidden_.count(std::minmax(i, k)) > 0) return true;
      }
    }
    return false;
  }
  std::vector<size_t> of_;
  std::vector<std::vector<size_t>> members_;
  std::set<std::pair<size_t, size_t>> forbidden_;
};

/// Host data of a node without a name belongs to the one node whose cards are there.
void NameHosts(Recording* r) {
  std::set<std::string> nodes;
  for (const GpuTrack& g : r->gpus) nodes.insert(g.card.node);
  for (HostTrack& h : r->hosts) {
    if (nodes.size() == 1 && h.node.empty()) h.node = *nodes.begin();
  }
  for (model::ProcessRow& p : r->processes) {
    if (p.host < 0 && r->hosts.size() == 1) p.host = 0;
  }
}

using Plan = std::map<size_t, std::vector<size_t>>;  // by the first input of each group

constexpr size_t kShownClashes = 3;

/// Inputs with samples of cards (without any: all inputs), grouped.
Plan PlanGroups(const std::vector<Recording>& inputs, const std::vector<Facts>& facts, bool any_cards,
                const std::vector<std::string>& names, Lang lang, std::vector<std::string>* notes) {
  Groups groups(inputs.size());
  std::vector<std::pair<size_t, size_t>> joins;
  size_t clashes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!facts[i].span || !facts[k].span || facts[i].cards != any_cards || facts[k].cards != any_cards) continue;
      if (!any_cards) {
        if (facts[i].span->from <= facts[k].span->to && facts[k].span->from <= facts[i].span->to)
          joins.emplace_back(k, i);
        continue;
      }
      const Pair p = Judge(inputs[k], facts[k], inputs[i], facts[i]);
      if (p.together) joins.emplace_back(k, i);
      if (p.unclear == nullptr) continue;
      groups.Forbid(k, i);
      if (clashes++ < kShownClashes)
        notes->push_back(Tr(lang, Msg::kAppSameCardTwice, names[k], names[i], p.unclear->card.gpu));
    }
  }
  if (clashes > kShownClashes) notes->push_back(Tr(lang, Msg::kAppSameCardTwiceMore, clashes - kShownClashes));
  for (const auto& [k, i] : joins) groups.Join(k, i);
  Plan plan;
  for (const auto& members : groups.members()) {
    if (!members.empty() && (facts[members.front()].cards || !any_cards)) plan[members.front()] = members;
  }
  return plan;
}

/// What holds no card's samples goes to every group at whose time it was written; else it stands alone.
void PlaceTheRest(const std::vector<Facts>& facts, Plan* plan) {
  for (size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].cards) continue;
    bool placed = false;
    for (auto& [first, members] : *plan) {
      const bool joins = std::any_of(members.begin(), members.end(), [&](size_t k) {
        const bool then = !facts[i].span ||  // an inventory is of no time
                          (facts[i].span->from <= facts[k].span->to && facts[k].span->from <= facts[i].span->to);
        return facts[k].cards && then;
      });
      if (joins) members.push_back(i);
      placed = placed || joins;
    }
    if (!placed) (*plan)[i] = {i};
  }
}

}  // namespace

std::vector<Recording> SplitAtLongHoles(Recording r, Lang lang) {
  struct Stretch {
    TimeMs from, to;
    int64_t samples;
  };
  constexpr size_t kMost = 50;
  std::vector<Stretch> all;
  int64_t total = 0;
  for (const GpuTrack& g : r.gpus) {
    total += static_cast<int64_t>(g.size());
    for (size_t i = 0; i < g.size(); ++i) {
      if (i == 0 || g.t_ms[i] - g.t_ms[i - 1] > kLongHoleMs) all.push_back({g.t_ms[i], g.t_ms[i], 0});
      all.back().to = g.t_ms[i];
      ++all.back().samples;
    }
  }
  std::sort(all.begin(), all.end(), [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
  std::vector<Stretch> stretches;
  for (const Stretch& s : all) {
    if (stretches.empty() || s.from - stretches.back().to > kLongHoleMs) {
      stretches.push_back(s);
      continue;
    }
    stretches.back().to = std::max(stretches.back().to, s.to);
    stretches.back().samples += s.samples;
  }
  int64_t wrong = 0;
  TimeMs first_wrong = 0;
  std::erase_if(stretches, [&](const Stretch& s) {
    const bool far = 100 * s.samples < total && stretches.size() > 1;
    if (far && wrong == 0) first_wrong = s.from;
    wrong += far ? s.samples : 0;
    return far;
  });
  if (wrong > 0) {
    r.notes.push_back(Tr(lang, Msg::kIngestNoteFarTimes, wrong, total, FormatRfc3339(first_wrong)));
    r.quality.Count(model::Odd::kBadRow, r.source + ": " + FormatRfc3339(first_wrong), wrong);
  }
  std::vector<Recording> out;
  if ((stretches.size() < 2 && wrong == 0) || stretches.size() > kMost) {
    out.push_back(std::move(r));
    return out;
  }
  for (const Stretch& s : stretches) {
    Recording part = r;
    const auto outside = [&](const auto& row) {
      return row.t_ms < s.from - kLongHoleMs || row.t_ms > s.to + kLongHoleMs;
    };
    for (GpuTrack& g : part.gpus) {
      CutOut(std::numeric_limits<TimeMs>::min(), s.from - 1, &g);
      CutOut(s.to + 1, std::numeric_limits<TimeMs>::max(), &g);
    }
    std::erase_if(part.processes, outside);
    std::erase_if(part.events, outside);
    out.push_back(std::move(part));
  }
  return out;
}

Combined Combine(std::vector<Recording> inputs, const std::vector<std::string>& names, Lang lang) {
  Combined out;
  std::vector<Facts> facts;
  for (const Recording& r : inputs) facts.push_back(FactsOf(r));
  const bool any_cards = std::any_of(facts.begin(), facts.end(), [](const Facts& f) { return f.cards; });
  Plan plan = PlanGroups(inputs, facts, any_cards, names, lang, &out.notes);
  if (any_cards) PlaceTheRest(facts, &plan);
  for (auto& [first, members] : plan) {
    // In the order of time, so that later files append to earlier ones; what gives the cards first.
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
      if (facts[a].cards != facts[b].cards) return facts[a].cards;
      return (facts[a].span ? facts[a].span->from : 0) < (facts[b].span ? facts[b].span->from : 0);
    });
    if (members.size() == 1) {
      out.recordings.push_back(inputs[members.front()]);
    } else {
      Merger merger(lang, inputs[members.front()]);
      for (size_t k = 1; k < members.size(); ++k) merger.Add(inputs[members[k]]);
      out.recordings.push_back(merger.Take());
      NameHosts(&out.recordings.back());
    }
    std::sort(members.begin(), members.end());
    out.parts.push_back(members);
  }
  return out;
}

}  // namespace sawbill::ingest
