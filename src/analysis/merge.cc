// SPDX-License-Identifier: Apache-2.0
#include "analysis/merge.h"

#include <algorithm>
#include <cmath>

namespace sawbill::analysis {
namespace {

using model::FindingId;

void AddUnique(std::vector<std::string>* to, const std::vector<std::string>& from) {
  for (const std::string& s : from) {
    if (std::find(to->begin(), to->end(), s) == to->end()) to->push_back(s);
  }
}

}  // namespace

void OrderGreedy(std::vector<Finding>* findings) {
  std::stable_sort(findings->begin(), findings->end(), [](const Finding& a, const Finding& b) {
    const double x = a.saving ? a.saving->expected_s : -1, y = b.saving ? b.saving->expected_s : -1;
    return x != y ? x > y : a.wasted_s > b.wasted_s;
  });
}

size_t Merger::CardIndex(const model::CardInfo& card) {
  const auto [it, fresh] = card_index_.try_emplace(card.key(), out_.cards.size());
  if (fresh) {
    CardFacts f;
    f.card = card;
    out_.cards.push_back(std::move(f));
    wave_sum_.emplace_back();
    wave_weight_.emplace_back();
  } else {
    out_.cards[it->second].card = card;  // the latest row of the inventory
  }
  return it->second;
}

int Merger::RunIndex(RunFacts run) {
  for (size_t i = out_.runs.size(); i > 0; --i) {
    RunFacts& r = out_.runs[i - 1];
    const bool same = r.job == run.job && r.user == run.user && r.program == run.program && r.node == run.node &&
                      r.cards == run.cards && r.assumed == run.assumed;
    if (same && r.ends_after && run.begins_before) {
      r.range.to = run.range.to;
      if (r.project.empty()) r.project = run.project;
      if (!run.exit_status.empty()) r.exit_status = run.exit_status;
      r.ends_after = run.ends_after;
      if (r.active.empty()) r.active = run.active;
      if (!run.active.empty()) r.active.to = run.active.to;
      return static_cast<int>(i - 1);
    }
  }
  run.run = "r" + std::to_string(out_.runs.size() + 1);
  out_.runs.push_back(std::move(run));
  return static_cast<int>(out_.runs.size() - 1);
}

bool Merger::SameSubject(const Finding& a, const Finding& b) const {
  if (a.id != b.id || a.cause != b.cause || (a.run < 0) != (b.run < 0)) return false;
  if (a.run < 0) return a.cards == b.cards;
  if (a.run == b.run) return a.cards == b.cards;
  // The same job on another day has the same fix: one finding, its money summed. Which card is slow is a finding of its
  // own.
  const RunFacts &x = out_.runs[static_cast<size_t>(a.run)], &y = out_.runs[static_cast<size_t>(b.run)];
  const bool same_job =
      !x.assumed && !y.assumed && x.job == y.job && x.user == y.user && x.program == y.program && x.node == y.node;
  return same_job && (a.id != FindingId::kImbalance || a.cards == b.cards);
}

void MergeFinding(Finding* g, Finding f) {
  const double total = std::max(1e-9, f.wasted_s + g->wasted_s);
  const double confidence = (f.confidence * f.wasted_s + g->confidence * g->wasted_s) / total;
  std::map<AccountKey, double> wasted = std::move(g->wasted_by);
  for (const auto& [key, s] : f.wasted_by) wasted[key] += s;
  std::optional<SavingEstimate> saving = g->saving;
  if (saving && f.saving) {
    saving->low_s += f.saving->low_s;
    saving->expected_s += f.saving->expected_s;
    saving->high_s += f.saving->high_s;
    saving->alone_s += f.saving->alone_s;
    saving->upper_only = saving->upper_only || f.saving->upper_only;
    saving->speedup = saving->speedup || f.saving->speedup;
  } else if (f.saving) {
    saving = f.saving;
  }
  std::vector<size_t> cards = g->cards;
  for (const size_t k : f.cards) {
    if (std::find(cards.begin(), cards.end(), k) == cards.end()) cards.push_back(k);
  }
  std::sort(cards.begin(), cards.end());
  const double wasted_s = g->wasted_s + f.wasted_s;
  const int runs = g->runs + (g->run == f.run && f.run >= 0 ? 0 : f.runs);
  if (f.wasted_s > g->wasted_s / g->runs) *g = std::move(f);  // the dearest case gives the evidence
  g->wasted_by = std::move(wasted);
  g->wasted_s = wasted_s;
  g->saving = saving;
  g->cards = std::move(cards);
  g->runs = runs;
  if (wasted_s > 0) g->confidence = confidence;
}

void Merger::AddFinding(Finding f) {
  for (Finding& g : out_.findings) {
    if (!SameSubject(g, f)) continue;
    MergeFinding(&g, std::move(f));
    return;
  }
  out_.findings.push_back(std::move(f));
}

std::vector<size_t> Merger::AddCards(PieceResult* piece) {
  PieceResult& r = *piece;
  std::vector<size_t> card(r.cards.size());
  for (size_t i = 0; i < r.cards.size(); ++i) {
    card[i] = CardIndex(r.cards[i]);
    CardFacts& to = out_.cards[card[i]];
    CardFacts& from = r.facts[i];
    to.split = to.split || from.split;
    to.covered_s += from.covered_s;
    if (from.samples > 0) {
      to.seen.from = to.samples > 0 ? std::min(to.seen.from, from.seen.from) : from.seen.from;
      to.seen.to = to.samples > 0 ? std::max(to.seen.to, from.seen.to) : from.seen.to;
    }
    to.samples += from.samples;
    to.util_read = to.util_read || from.util_read;
    to.energy_j += from.energy_j;
    to.energy_s += from.energy_s;
    to.energy_counted = from.energy_counted || (from.energy_s <= 0 && to.energy_counted);
    to.longest_idle_s = std::max(to.longest_idle_s, from.longest_idle_s);
    // The pattern of the piece that idles most is the card's.
    if (to.idle_pattern == "unknown" || to.idle_pattern == "none") {
      to.idle_pattern = from.idle_pattern;
      to.idle_period_s = from.idle_period_s;
    }
    for (auto& [metric, d] : from.stats) {
      const auto it =
          std::find_if(to.stats.begin(), to.stats.end(), [&, m = metric](const auto& s) { return s.first == m; });
      if (it == to.stats.end()) {
        to.stats.emplace_back(metric, std::move(d));
      } else {
        it->second.Merge(d);
      }
    }
    auto& sum = wave_sum_[card[i]];
    auto& weight = wave_weight_[card[i]];
    sum.resize(r.wave_sum[i].size(), 0);
    weight.resize(r.wave_sum[i].size(), 0);
    to.wave_low.resize(r.wave_sum[i].size(), static_cast<float>(kMissing));
    for (size_t k = 0; k < sum.size(); ++k) {
      sum[k] += r.wave_sum[i][k];
      weight[k] += r.wave_weight[i][k];
      const float low = from.wave_low[k];
      if (IsPresent(low)) to.wave_low[k] = IsMissing(to.wave_low[k]) ? low : std::min(to.wave_low[k], low);
    }
  }
  return card;
}

void Merger::AddNodes(const std::map<std::string, model::TimeRange>& nodes) {
  // Time between the pieces in which a node gave no sample: nobody looked, so it is not measured.
  for (const auto& [node, range] : nodes) {
    const auto [it, fresh] = nodes_.try_emplace(node, range);
    if (fresh) continue;
    const TimeMs gap_from = it->second.to, gap_to = range.from;
    for (size_t k = 0; gap_to > gap_from && k < out_.cards.size(); ++k) {
      const CardFacts& c = out_.cards[k];
      if (c.card.node != node || c.split || IsInstance(c.card)) continue;
      calendar_.Spread(gap_from, gap_to, [&](const Calendar::Part& part, double share) {
        out_.account[{k, -1, part.day, part.span}][model::Index(model::Line::kUnmeasured)] +=
            share * Seconds(gap_to - gap_from);
      });
    }
    it->second.to = std::max(it->second.to, range.to);
  }
}

void Merger::Add(PieceResult r) {
  const std::vector<size_t> card = AddCards(&r);
  std::vector<int> run(r.runs.size());
  for (size_t i = 0; i < r.runs.size(); ++i) {
    for (size_t& k : r.runs[i].cards) k = card[k];
    run[i] = RunIndex(std::move(r.runs[i]));
  }
  const auto global = [&](const AccountKey& k) {
    return AccountKey{card[k.card], k.run < 0 ? -1 : run[static_cast<size_t>(k.run)], k.day, k.span};
  };
  for (const auto& [key, lines] : r.account) {
    model::LineSeconds& to = out_.account[global(key)];
    for (size_t i = 0; i < model::kLines; ++i) to[i] += lines[i];
  }
  for (Finding& f : r.findings) {
    f.run = f.run < 0 ? -1 : run[static_cast<size_t>(f.run)];
    for (size_t& k : f.cards) k = card[k];
    std::map<AccountKey, double> by;
    for (const auto& [key, s] : f.wasted_by) by[global(key)] += s;
    f.wasted_by = std::move(by);
    AddFinding(std::move(f));
  }
  for (Analysis::Trial& t : r.trials) {
    t.run = t.run < 0 ? -1 : run[static_cast<size_t>(t.run)];
    for (size_t& k : t.cards) k = card[k];
    out_.trials.push_back(std::move(t));
  }
  AddNodes(r.nodes);
  out_.jobs.merge(r.jobs);
  out_.users.merge(r.users);
  out_.projects.merge(r.projects);
  AddUnique(&out_.limits, r.limits);
  AddUnique(&out_.notes, r.notes);
  AddUnique(&cannot_judge_, r.cannot_judge);
  work_s_ = std::max(work_s_, r.work_s);
  out_.quality.Merge(r.quality);
  out_.simulated = out_.simulated || r.simulated;
  if (out_.format.empty()) out_.format = r.format;
}

void Merger::CropToRuns(model::TimeRange whole) {
  model::TimeRange runs{INT64_MAX, INT64_MIN};
  for (const RunFacts& r : out_.runs) {
    runs.from = std::min(runs.from, std::max(r.range.from, out_.period.from));
    runs.to = std::max(runs.to, std::min(r.range.to, out_.period.to));
  }
  if (runs.from >= runs.to) return;
  out_.period = runs;
  const auto points = static_cast<size_t>(std::max(1, options_.wave_points));
  const auto at = [&](TimeMs t, size_t n) {
    const double share =
        static_cast<double>(t - whole.from) / std::max(1.0, static_cast<double>(whole.to - whole.from));
    return share * static_cast<double>(n);
  };
  for (CardFacts& c : out_.cards) {
    const size_t n = c.wave.size();
    if (n == 0) continue;
    const double from = std::clamp(at(runs.from, n), 0.0, static_cast<double>(n - 1));
    const double step =
        std::max(1e-9, (std::min(at(runs.to, n), static_cast<double>(n)) - from) / static_cast<double>(points));
    std::vector<float> wave(points, static_cast<float>(kMissing)), low(points, static_cast<float>(kMissing));
    for (size_t k = 0; k < points; ++k) {
      const auto first = static_cast<size_t>(from + step * static_cast<double>(k));
      const auto last = std::max(first + 1, static_cast<size_t>(from + step * static_cast<double>(k + 1)));
      double sum = 0;
      int count = 0;
      for (size_t i = first; i < std::min(last, n); ++i) {
        if (IsPresent(c.wave[i])) sum += c.wave[i], ++count;
        if (IsPresent(c.wave_low[i])) low[k] = IsMissing(low[k]) ? c.wave_low[i] : std::min(low[k], c.wave_low[i]);
      }
      if (count > 0) wave[k] = static_cast<float>(sum / count);
    }
    c.wave = std::move(wave);
    c.wave_low = std::move(low);
  }
}

Analysis Merger::Finish(const model::TelemetrySource& source) {
  out_.source = source.description();
  out_.period = {INT64_MAX, INT64_MIN};
  for (const auto& [node, range] : nodes_) {
    out_.period.from = std::min(out_.period.from, range.from);
    out_.period.to = std::max(out_.period.to, range.to);
  }
  if (nodes_.empty()) out_.period = source.period();
  out_.cuts = options_.cuts;
  out_.filtered = static_cast<bool>(options_.run_filter);
  if (out_.filtered) {
    // Gaps between pieces belong to no run.
    std::erase_if(out_.account, [](const auto& entry) { return entry.first.run < 0; });
  }
  for (const auto& [key, lines] : out_.account) {
    for (const double s : lines) out_.cards[key.card].period_s += s;
  }
  for (size_t k = 0; k < out_.cards.size(); ++k) {
    auto& wave = out_.cards[k].wave;
    wave.assign(wave_sum_[k].size(), static_cast<float>(kMissing));
    for (size_t i = 0; i < wave.size(); ++i) {
      if (wave_weight_[k][i] > 0) wave[i] = static_cast<float>(wave_sum_[k][i] / wave_weight_[k][i]);
    }
  }
  if (options_.run_filter) CropToRuns(source.period());
  OrderGreedy(&out_.findings);
  if (out_.findings.empty()) out_.cannot_judge = cannot_judge_;
  const bool measured =
      std::any_of(out_.cards.begin(), out_.cards.end(), [](const CardFacts& c) { return c.covered_s > 0; });
  if (!measured && out_.cannot_judge.empty()) {
    out_.cannot_judge.push_back(std::string(Text(options_.lang, Msg::kCannotJudgeNoCard)));
  }
  return std::move(out_);
}

}  // namespace sawbill::analysis
