// SPDX-License-Identifier: Apache-2.0
#include "bench/diagnosis/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "wave/stats.h"

namespace sawbill::bench {
namespace {
using simulator::Activity;

/// The line of the account on which each kind of true time belongs.
const char* LineOf(Activity a) {
  switch (a) {
    case Activity::kStep:
      return "useful";
    case Activity::kData:
      return "data-loading";
    case Activity::kSync:
      return "unsaturated";
    case Activity::kCkpt:
      return "checkpoint";
    case Activity::kEval:
      return "evaluation";
    case Activity::kLog:
      return "logging";
    case Activity::kComm:
      return "communication";
    case Activity::kSpin:
    case Activity::kImbalance:
      return "imbalance";
    case Activity::kStartup:
      return "startup";
    case Activity::kGap:
      return "unused";
    case Activity::kIdle:
    case Activity::kHang:
      return "idle-held";
    case Activity::kCount:
      break;
  }
  return "unexplained";
}

/// Where what is lost lies inside time that counts as a step, the true account says nothing about it.
bool HasTrueAccount(const std::string& scenario) {
  static const std::set<std::string> kWithout = {"inference-random", "neighbour", "kernel-inefficiency",
                                                 "full-precision",   "thermal",   "power-cap"};
  return !kWithout.contains(scenario);
}

double LedgerDistance(const simulator::World& world, double outage_s, const Answer& answer) {
  std::map<std::string, double> truth;
  const auto seconds = world.Seconds();
  double all = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    truth[LineOf(static_cast<Activity>(i))] += seconds[i];
    all += seconds[i];
  }
  if (outage_s > 0) {  // a healthy job: what was not seen was useful, and is to be called unmeasured
    const double unseen = outage_s * static_cast<double>(world.cards.size());
    truth["useful"] -= unseen;
    truth["unmeasured"] += unseen;
  }
  double said = 0, distance = 0;
  for (const auto& [line, s] : answer.ledger_s) said += s;
  for (const auto& [line, s] : answer.ledger_s) truth.try_emplace(line, 0);
  for (const auto& [line, s] : truth) {
    const auto it = answer.ledger_s.find(line);
    distance += std::abs((it == answer.ledger_s.end() ? 0 : it->second / said) - s / all);
  }
  return distance / 2;
}

void ScoreSaving(const simulator::Truth& truth, const Answer& answer, const std::set<std::string>& expected,
                 RunScore* r) {
  if (!truth.saving_share) return;
  r->saving_asked = true;
  r->saving_close = truth.saving_tier != "C";
  ClaimedSaving sum;
  for (const Claim& c : answer.claims) {
    if (!expected.contains(c.id)) continue;
    r->saving_named = true;
    sum.low += c.saving.low;
    sum.expected += c.saving.expected;
    sum.high += c.saving.high;
  }
  const double y = *truth.saving_share;
  r->saving_true = y;
  r->saving = sum;
  r->saving_error = std::abs(sum.expected - y);
  r->saving_width = sum.high - sum.low;
  r->saving_winkler = r->saving_width + 10 * std::max({0.0, sum.low - y, y - sum.high});  // of an 80 % interval
  r->saving_inside = sum.low - 0.005 <= y && y <= sum.high + 0.005;
}

}  // namespace

RunScore Score(const simulator::Simulation& s, const Answer& answer, double price_per_gpu_hour) {
  const simulator::Truth& truth = s.truth;
  RunScore r;
  r.scenario = truth.scenario;
  r.crashed = answer.crashed;
  r.healthy = truth.healthy;
  const double card_s = s.world.duration_s * static_cast<double>(s.world.cards.size());
  r.gpu_hours = card_s / 3600;
  const std::set<std::string> expected(truth.findings.begin(), truth.findings.end());
  std::set<std::string> allowed = expected, found;
  allowed.insert(truth.also.begin(), truth.also.end());
  for (const Claim& c : answer.claims) found.insert(c.id);
  r.expected = static_cast<int>(expected.size());
  for (const std::string& id : found) {
    r.got += (r.got.empty() ? "" : ",") + id;
    const bool only_some_are_wrong = !truth.healthy && expected.empty() && !truth.not_allowed.empty();
    r.wrong += only_some_are_wrong ? std::count(truth.not_allowed.begin(), truth.not_allowed.end(), id) > 0
                                   : !allowed.contains(id);
    r.hits += expected.contains(id);
  }
  if (answer.crashed) r.got = "failed: " + answer.error.substr(0, 80);
  if (truth.healthy) r.wrong_on_healthy = r.wrong;
  if (!truth.cause.empty()) {
    r.cause_asked = 1;
    bool right = r.hits > 0;
    for (const Claim& c : answer.claims) right = right && (!expected.contains(c.id) || c.cause == truth.cause);
    r.cause_right = right ? 1 : 0;
    for (const Claim& c : answer.claims)
      r.got += expected.contains(c.id) && c.cause != truth.cause ? "/" + c.cause : "";
  }
  if (truth.gpu && r.hits > 0) {
    r.slow_asked = 1;
    const Claim* c = answer.Find("imbalance");
    r.slow_right = c != nullptr && c->gpus == std::vector<std::string>{std::to_string(*truth.gpu)} ? 1 : 0;
  }
  if (truth.period_s && r.hits > 0) {
    double best = 1;
    for (const Claim& c : answer.claims) {
      if (expected.contains(c.id) && c.period_s)
        best = std::min(best, std::abs(*c.period_s - *truth.period_s) / *truth.period_s);
    }
    r.period_error.push_back(best);
  }
  if (!answer.ledger_s.empty()) {
    double said = 0;
    for (const auto& [line, seconds] : answer.ledger_s) said += seconds;
    const double due = card_s * price_per_gpu_hour / 3600;
    r.unbalanced = std::abs(answer.ledger_cost - answer.cost) > 0.005 || std::abs(answer.cost / due - 1) > 0.01 ||
                   std::abs(said / card_s - 1) > 0.01;
    if (HasTrueAccount(truth.scenario)) {
      const double outage = s.measure.outage_to_s - s.measure.outage_from_s;
      r.ledger_distance.push_back(LedgerDistance(s.world, outage, answer));
    }
  }
  ScoreSaving(truth, answer, expected, &r);
  return r;
}

namespace {

double Mean(const std::vector<double>& v) {
  if (v.empty()) return kMissing;
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

}  // namespace

Summary Sum(const std::vector<RunScore>& runs) {
  Summary s;
  double asked = 0, right = 0, slow = 0, slow_right = 0, inside = 0;
  std::vector<double> ledger, errors, all_errors, widths, winkler, periods;
  for (const RunScore& r : runs) {
    ++s.runs;
    s.crashed += r.crashed;
    s.unbalanced += r.unbalanced;
    s.expected += r.expected;
    s.hits += r.hits;
    s.wrong += r.wrong;
    s.wrong_on_healthy += r.wrong_on_healthy;
    if (r.healthy) s.healthy_gpu_hours += r.gpu_hours;
    asked += r.cause_asked;
    right += r.cause_right;
    slow += r.slow_asked;
    slow_right += r.slow_right;
    ledger.insert(ledger.end(), r.ledger_distance.begin(), r.ledger_distance.end());
    periods.insert(periods.end(), r.period_error.begin(), r.period_error.end());
    if (!r.saving_asked) continue;
    winkler.push_back(r.saving_winkler);
    if (!r.saving_close) continue;
    all_errors.push_back(r.saving_error);  // who misses the finding predicts no saving
    if (!r.saving_named) continue;
    errors.push_back(r.saving_error);
    widths.push_back(r.saving_width);
    inside += r.saving_inside;
  }
  s.precision = s.hits / std::max(1.0, static_cast<double>(s.hits + s.wrong));
  s.recall = s.hits / std::max(1.0, static_cast<double>(s.expected));
  s.f1 = s.precision + s.recall > 0 ? 2 * s.precision * s.recall / (s.precision + s.recall) : 0;
  s.cause = asked > 0 ? right / asked : kMissing;
  s.slow_card = slow > 0 ? slow_right / slow : kMissing;
  s.false_per_100_healthy_hours = s.healthy_gpu_hours > 0 ? 100 * s.wrong_on_healthy / s.healthy_gpu_hours : kMissing;
  s.ledger_distance = Mean(ledger);
  s.saving_median_error = wave::Median(errors);
  s.saving_mean_error_all = Mean(all_errors);
  s.saving_inside = errors.empty() ? kMissing : inside / static_cast<double>(errors.size());
  s.saving_median_width = wave::Median(widths);
  s.saving_interval_score = Mean(winkler);
  s.period_median_error = wave::Median(periods);
  return s;
}

}  // namespace sawbill::bench
