// SPDX-License-Identifier: Apache-2.0
#include "analysis/chain.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using wave::Feature;

class Writer {
 public:
  Writer(const wave::FeatureSet& f, Lang lang) : f_(f), lang_(lang) {}
  std::string Percent(Feature x) const { return Text(f_.Get(x) * 100, 0); }
  std::string Number(Feature x, int decimals = 0) const { return Text(f_.Get(x), decimals); }
  std::string Text(double v, int decimals) const { return IsMissing(v) ? "?" : FormatFixed(v, decimals); }
  std::string Duration(double seconds) const { return FormatDuration(seconds, lang_); }
  template <typename... A>
  void Add(Msg id, const A&... args) {
    out.push_back(Tr(lang_, id, args...));
  }
  bool Has(Feature x) const { return f_.Has(x); }
  std::vector<std::string> out;

 private:
  const wave::FeatureSet& f_;
  Lang lang_;
};

void DataLoading(Writer* w, const Finding& x) {
  w->Add(Msg::kBecauseWait, w->Percent(Feature::kWaitShare));
  if (!w->Has(Feature::kMainBusy)) {
    w->Add(Msg::kBecauseMainBusyUnknown);
  } else if (x.features.Get(Feature::kMainBlocked) >= 0.5) {
    w->Add(Msg::kBecauseBlocked);
  }
  if (!x.cause) return;
  switch (*x.cause) {
    case Cause::kFewWorkers:
      w->Add(Msg::kBecauseFewWorkers, w->Number(Feature::kWorkers), w->Percent(Feature::kWorkerBusy),
             w->Number(Feature::kCoresFree), w->Number(Feature::kCoresAllowed));
      break;
    case Cause::kCpuSaturated:
      w->Add(Msg::kBecauseCpuSaturated, w->Number(Feature::kCoresAllowed), w->Number(Feature::kCpuUtil));
      break;
    case Cause::kSlowStorage:
      w->Add(Msg::kBecauseSlowStorage, w->Percent(Feature::kWorkerBusy), w->Number(Feature::kIowait),
             w->Number(Feature::kDiskUtil));
      break;
    case Cause::kHostContention:
      w->Add(Msg::kBecauseHostContention, w->Number(Feature::kForeignCores, 1), w->Number(Feature::kCoresAllowed));
      break;
    default:
      break;
  }
}

void Unsaturated(Writer* w, const Finding& x) {
  if (!x.cause) {
    w->Add(Msg::kBecauseWait, w->Percent(Feature::kWaitShare));
    w->Add(Msg::kBecauseLowUnknown);
    return;
  }
  switch (*x.cause) {
    case Cause::kHostBound:
      w->Add(Msg::kBecauseWait, w->Percent(Feature::kWaitShare));
      w->Add(Msg::kBecauseHostBound, w->Number(Feature::kMainBusy, 2));
      break;
    case Cause::kSmallBatch:
      w->Add(Msg::kBecauseSmallBatch, w->Percent(Feature::kBusyPowerShare), w->Percent(Feature::kMemUsedShare));
      break;
    case Cause::kFullPrecision:
      w->Add(Msg::kBecauseFullPrecision, w->Percent(Feature::kSmActive), w->Percent(Feature::kTensorActive));
      break;
    default:
      break;
  }
}

void Interrupted(Writer* w, FindingId id) {
  if (id == FindingId::kCheckpoint) {
    w->Add(Msg::kBecauseCheckpoint, w->Number(Feature::kCkptCount), w->Number(Feature::kCkptWidthS, 1));
    if (w->Has(Feature::kCkptPeriodS)) w->Add(Msg::kBecausePeriod, w->Number(Feature::kCkptPeriodS));
  } else if (id == FindingId::kEvaluation) {
    w->Add(Msg::kBecauseEvaluation, w->Number(Feature::kEvalCount), w->Number(Feature::kEvalWidthS));
    if (w->Has(Feature::kEvalPeriodS)) w->Add(Msg::kBecausePeriod, w->Number(Feature::kEvalPeriodS));
  } else {
    w->Add(Msg::kBecauseLogging, w->Number(Feature::kLogPeriodS, 1), w->Number(Feature::kLogWidthS, 1));
  }
}

void Imbalance(Writer* w, const Piece& p, const Finding& x) {
  if (x.cause == Cause::kDataParallel) {
    w->Add(Msg::kBecauseDataParallel, w->Number(Feature::kCards), w->Number(Feature::kUtilSpread));
  } else if (!x.cards.empty()) {
    w->Add(Msg::kBecauseStraggler, w->Percent(Feature::kSpinShare), p.recording->gpus[x.cards.front()].card.gpu);
  }
}

/// The run whose process holds the card of `f` and never uses it; null where the finding is about something else.
const RunAnalysis* JobThatNeverUses(const Piece& p, const Fired& f) {
  for (size_t r = 0; f.run < 0 && r < p.runs.size(); ++r) {
    if (NeverWorksIn(p, static_cast<int>(r), f.cards.front())) return &p.runs[r];
  }
  return nullptr;
}

/// A process of `r` was seen on the card.
bool HoldsCard(const RunAnalysis& r, size_t card) {
  return std::any_of(r.run.holds.begin(), r.run.holds.end(), [&](const jobs::Hold& h) { return h.card == card; });
}

/// What the cards that the finding is not about lose to those that it is.
void OthersWait(Writer* w, const Piece& p, const Finding& x) {
  double lost_s = 0;
  for (const auto& [key, s] : x.wasted_by) {
    const bool own = std::find(x.cards.begin(), x.cards.end(), key.card) != x.cards.end();
    const auto it = p.account.find(key);
    if (!own && it != p.account.end()) lost_s += std::min(s, it->second[model::Index(model::Line::kImbalance)]);
  }
  if (lost_s > 0) w->Add(Msg::kBecauseOthersWait, w->Duration(lost_s));
}

std::string NameOf(const jobs::Run& run) { return Sanitize(!run.job.empty() ? run.job : run.program); }

void States(Writer* w, const Piece& p, const Fired& f, const Finding& x) {
  const wave::FeatureSet& v = x.features;
  switch (x.id) {
    case FindingId::kStartup:
      w->Add(Msg::kBecauseStartup, w->Duration(v.Get(Feature::kStartupS)));
      break;
    case FindingId::kRestartLoop:
      w->Add(Msg::kBecauseRestart, std::to_string(f.group.size()), w->Duration(v.Get(Feature::kLifeS)));
      break;
    case FindingId::kHang:
      w->Add(Msg::kBecauseHang, w->Duration(v.Get(Feature::kHangS)));
      break;
    case FindingId::kIdleHeld:
      if (const RunAnalysis* r = JobThatNeverUses(p, f)) {
        w->Add(Msg::kBecauseIdleOfJob, NameOf(r->run), w->Duration(x.wasted_s));
      } else {
        w->Add(Msg::kBecauseIdleHeld, w->Duration(x.wasted_s));
      }
      break;
    case FindingId::kUnused:
      if (x.cause == Cause::kOverAllocated) {
        const RunAnalysis* r = JobThatNeverUses(p, f);
        if (r != nullptr && HoldsCard(*r, f.cards.front())) {
          w->Add(Msg::kBecauseIdleOfJob, NameOf(r->run), w->Duration(x.wasted_s / static_cast<double>(f.cards.size())));
        } else {
          w->Add(Msg::kBecauseOverAllocated);
        }
      } else {
        w->Add(Msg::kBecauseUnused, w->Duration(x.wasted_s), w->Duration(p.range.seconds()));
      }
      if (const double gaps = v.Get(Feature::kGapCount); gaps >= 2) {
        w->Add(Msg::kBecauseGaps, w->Number(Feature::kGapCount));
      } else if (gaps >= 1) {
        w->Add(Msg::kBecauseGap);
      }
      break;
    case FindingId::kSharedGpu:
      w->Add(Msg::kBecauseShared, w->Percent(Feature::kNeighbourShare));
      break;
    default:
      break;
  }
}

}  // namespace

std::vector<std::string> CausalChain(const Piece& p, const Fired& f, const Finding& x, Lang lang) {
  Writer w(x.features, lang);
  switch (x.id) {
    case FindingId::kDataLoading:
      DataLoading(&w, x);
      break;
    case FindingId::kUnsaturated:
      Unsaturated(&w, x);
      break;
    case FindingId::kCheckpoint:
    case FindingId::kEvaluation:
    case FindingId::kLogging:
      Interrupted(&w, x.id);
      break;
    case FindingId::kImbalance:
      Imbalance(&w, p, x);
      break;
    case FindingId::kCommunication:
      w.Add(Msg::kBecauseCommunication, w.Percent(Feature::kCommShare),
            w.Text(x.features.Get(Feature::kLinkMbS) / 1000, 0));
      break;
    case FindingId::kKernelInefficiency:
      w.Add(Msg::kBecauseKernels, w.Number(Feature::kUtilMean), w.Percent(Feature::kBusyPowerShare),
            w.Percent(Feature::kMemUsedShare));
      break;
    case FindingId::kThrottling:
      if (x.cause == Cause::kPower) {
        w.Add(Msg::kBecausePowerCap, w.Percent(Feature::kClockShare), w.Percent(Feature::kPowerCapShare));
      } else {
        w.Add(Msg::kBecauseThermal, w.Percent(Feature::kClockShare), w.Percent(Feature::kThermalShare),
              w.Number(Feature::kTempC));
      }
      break;
    case FindingId::kDegradation: {
      const double before = x.features.Get(Feature::kTrendBefore),
                   after = before * (1 - x.features.Get(Feature::kTrendDrop));
      w.Add(Msg::kBecauseDegradation, w.Text(before, 0), w.Text(after, 0),
            w.Duration(x.features.Get(Feature::kActiveS) - x.features.Get(Feature::kTrendAfterS)));
      break;
    }
    default:
      States(&w, p, f, x);
  }
  if (x.run >= 0 && x.id != FindingId::kImbalance) OthersWait(&w, p, x);
  return std::move(w.out);
}

}  // namespace sawbill::analysis
