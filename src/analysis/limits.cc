// SPDX-License-Identifier: Apache-2.0
// What a record cannot tell, and what to record instead.
#include <algorithm>

#include "analysis/merge.h"
#include "analysis/silent.h"
#include "base/text.h"

namespace sawbill::analysis {
namespace {

/// One line for every kind of reading that the record lacks, and what cannot be told without them.
void LimitByKinds(bool power, bool memory, bool processes, bool hosts, Lang lang, PieceResult* out) {
  std::vector<std::string> items, effects;
  const auto add = [&](bool there, Msg item, Msg effect) {
    if (there) return;
    items.emplace_back(Text(lang, item));
    const std::string said(Text(lang, effect));
    if (effects.empty() || effects.back() != said) effects.push_back(said);
  };
  add(power, Msg::kLimitItemPower, Msg::kLimitEffectPower);
  add(memory, Msg::kLimitItemMemory, Msg::kLimitEffectMemory);
  add(processes, Msg::kLimitItemProcesses, Msg::kLimitEffectCauses);
  add(hosts, Msg::kLimitItemHost, Msg::kLimitEffectCauses);
  if (items.empty()) return;
  const bool zh = lang == Lang::kZh;
  out->limits.push_back(
      Tr(lang, Msg::kLimitNotRecorded, Join(items, zh ? "、" : ", no "), Join(effects, zh ? "，" : ", ")));
}

/// A log that somebody else wrote: 'sawbill doctor' knows nothing of where it was written.
bool IsForeign(const model::Recording& r) { return !r.format.empty() && r.format.find("sawbill") == std::string::npos; }

std::string SilentWords(const model::Recording& r, const std::string& gpu, Lang lang) {
  if (!IsForeign(r)) return Tr(lang, Msg::kRecCardSilent, gpu);
  const int64_t bad = r.quality.count(model::Odd::kBadCell);
  if (bad == 0) return Tr(lang, Msg::kLimitCardSilentLog, gpu);
  return Tr(lang, Msg::kLimitCardSilentBad, gpu, bad, r.quality.detail(model::Odd::kBadCell));
}

}  // namespace

void Limits(const Piece& p, const Options& o, PieceResult* out) {
  const model::Recording& r = *p.recording;
  bool util = false, power = false, memory = false, time = false;
  double coarse = 0;
  std::vector<std::string> no_time, no_util, aliased;
  // One sentence for all cards of which the same is true.
  const auto say = [&](const std::vector<std::string>& cards, Msg one, Msg many) {
    if (!cards.empty()) out->limits.push_back(Tr(o.lang, cards.size() == 1 ? one : many, Join(cards, ", ")));
  };
  for (size_t k = 0; k < p.cards.size(); ++k) {
    const PreparedCard& c = p.cards[k];
    if (!p.split[k].empty()) continue;
    if (IsSilent(c)) {
      out->limits.push_back(SilentWords(r, c.track->card.gpu, o.lang));
      continue;
    }
    util = util || c.has_util;
    power = power || c.has_power;
    memory = memory || c.has_memory;
    time = time || c.coverage.covered_s > 0;
    coarse = std::max(coarse, c.coverage.median_interval_s);
    if (!c.has_util && c.coverage.covered_s > 0) no_util.push_back(c.track->card.gpu);
    if (c.coverage.covered_s <= 0) no_time.push_back(c.track->card.gpu);
  }
  say(no_util, Msg::kLimitNoUtil, Msg::kLimitNoUtilMany);
  if (!no_time.empty()) out->limits.push_back(Tr(o.lang, Msg::kLimitNoTime, Join(no_time, ", ")));
  bool untold_idle = false;
  for (const RunAnalysis& run : p.runs) {
    untold_idle = untold_idle || run.untold_idle;
    out->work_s = std::max(out->work_s, run.active.seconds());
    if (run.unseen_work)
      out->limits.push_back(Tr(o.lang, Msg::kLimitUnseenWork, p.cards[run.run.cards.front()].track->card.gpu));
    if (run.aliased) aliased.push_back(p.cards[run.run.cards.front()].track->card.gpu);
  }
  say(aliased, Msg::kLimitAliased, Msg::kLimitAliasedMany);
  if (p.cards.empty()) return;
  if (std::all_of(p.cards.begin(), p.cards.end(), IsSilent)) {
    out->cannot_judge.push_back(Tr(o.lang, IsForeign(r) ? Msg::kCannotJudgeNoCardInLog : Msg::kCannotJudgeNoCard));
    return;
  }
  if (!time || !util) {
    LimitByKinds(power, memory, !r.processes.empty(), !r.hosts.empty(), o.lang, out);
    out->cannot_judge.push_back(Tr(o.lang, time ? Msg::kCannotJudgeNoUtil : Msg::kCannotJudgeNoTime));
    return;
  }
  if (coarse > kFinestShapeS) {
    const std::string interval = FormatDuration(coarse, o.lang);
    out->limits.push_back(Tr(o.lang, Msg::kLimitCoarse, interval, FormatDuration(3 * coarse, o.lang)));
    if (untold_idle) out->limits.push_back(Tr(o.lang, Msg::kLimitIdleUntold, interval));
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeCoarse, interval));
  }
  LimitByKinds(power, memory, !r.processes.empty(), !r.hosts.empty(), o.lang, out);
  if (p.range.seconds() < 180) {
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeShort, FormatDuration(p.range.seconds(), o.lang)));
  }
}

}  // namespace sawbill::analysis
