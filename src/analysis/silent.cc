// SPDX-License-Identifier: Apache-2.0
#include "analysis/silent.h"

#include <algorithm>

#include "analysis/calendar.h"

namespace sawbill::analysis {
namespace {

/// Billed in this one's place, or this one in theirs: a card and its MIG instances are never paid for twice.
bool StoodFor(const Piece& p, size_t k) {
  const model::CardInfo& mine = p.cards[k].track->card;
  return std::any_of(p.cards.begin(), p.cards.end(), [&](const PreparedCard& c) {
    const model::CardInfo& other = c.track->card;
    if (IsInstance(other) == IsInstance(mine)) return false;
    return IsInstance(other) ? IsParentOf(mine, other) : IsParentOf(other, mine) && !IsSilent(c);
  });
}

}  // namespace

std::vector<size_t> TakeSilent(const std::vector<PreparedCard>& cards, jobs::Run* run) {
  const auto silent = [&](size_t k) { return IsSilent(cards[k]); };
  std::vector<size_t> out;
  std::copy_if(run->cards.begin(), run->cards.end(), std::back_inserter(out), silent);
  if (out.size() == run->cards.size()) return {};
  std::erase_if(run->cards, silent);
  return out;
}

void AccountSilent(const Options& o, const std::map<std::string, model::TimeRange>& nodes, Piece* p) {
  Calendar calendar(o.tz, o.cuts);
  for (size_t k = 0; k < p->cards.size(); ++k) {
    const auto node = nodes.find(p->cards[k].track->card.node);
    if (!IsSilent(p->cards[k]) || node == nodes.end() || StoodFor(*p, k)) continue;
    const auto add = [&](int run, TimeMs from, TimeMs to) {
      if (to <= from) return;
      calendar.Spread(from, to, [&](const Calendar::Part& part, double share) {
        p->account[{k, run, part.day, part.span}][model::Index(model::Line::kUnmeasured)] += share * Seconds(to - from);
      });
    };
    TimeMs done = node->second.from;
    for (size_t r = 0; r < p->runs.size(); ++r) {  // by time of start: of two at once the first has the card
      const jobs::Run& run = p->runs[r].run;
      if (std::find(run.cards.begin(), run.cards.end(), k) == run.cards.end()) continue;
      const TimeMs from = std::clamp(run.range.from, done, std::max(done, node->second.to));
      const TimeMs to = std::clamp(run.range.to, from, std::max(from, node->second.to));
      add(-1, done, from);
      add(static_cast<int>(r), from, to);
      done = to;
    }
    add(-1, done, node->second.to);
  }
}

}  // namespace sawbill::analysis
