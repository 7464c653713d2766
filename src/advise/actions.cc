// SPDX-License-Identifier: Apache-2.0
#include "advise/actions.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "whatif/savings.h"

namespace sawbill::advise {
namespace {

using model::Cause;
using model::FindingId;
using wave::Feature;

std::string Whole(double v) { return FormatFixed(v, 0); }

/// Workers of all ranks that feed the card, within the cores, by simulation of the loader; NaN when it cannot be told.
double WorkersNeeded(const wave::FeatureSet& f) {
  const double workers = f.Get(Feature::kWorkers), wait = f.Get(Feature::kWaitShare),
               cores = f.Get(Feature::kCoresAllowed);
  if (IsMissing(workers) || workers < 1 || IsMissing(wait) || wait >= 0.95) return kMissing;
  const double ranks = std::max(1.0, f.Get(Feature::kCards));
  // One core stays with each rank's main process. How unevenly batches are prepared only timings of steps would tell.
  const double limit = IsPresent(cores) ? std::max(1.0, cores - ranks) : kMissing;
  return whatif::WorkersToFeed(static_cast<int>(std::lround(workers)), wait, whatif::kUsualPrepCv, limit);
}

void DataLoading(const analysis::Finding& x, Lang l, std::vector<Recommendation>* out) {
  const wave::FeatureSet& f = x.features;
  const double workers = f.Get(Feature::kWorkers), cores = f.Get(Feature::kCoresAllowed);
  const auto prefetch = [&] {
    out->push_back({"prefetch", 1, Tr(l, Msg::kActPrefetch, std::string("4")), "prefetch_factor", "", "4", ""});
  };
  if (!x.cause) {
    if (IsPresent(cores)) {
      out->push_back({"more-workers", 1, Tr(l, Msg::kActWorkersMore, Whole(cores)), "num_workers",
                      IsPresent(workers) ? Whole(workers) : "", "", ""});
    } else {
      out->push_back({"more-workers", 1, Tr(l, Msg::kActWorkersUnknown), "num_workers", "", "", ""});
    }
    prefetch();
    out->push_back({"probe", 1, Tr(l, Msg::kActProbe), "", "", "", ""});
    return;
  }
  switch (*x.cause) {
    case Cause::kFewWorkers: {
      const double needed = WorkersNeeded(f);
      if (IsPresent(needed) && needed > workers) {
        // Workers are counted over all ranks of this host, the setting is per rank.
        const double ranks = f.Get(Feature::kOneProcess) == 1 ? 1 : std::max(1.0, f.Get(Feature::kCards));
        const std::string now = Whole(workers / ranks), then = Whole(std::ceil(needed / ranks));
        out->push_back({"more-workers", 1, Tr(l, Msg::kActWorkersTo, now, then), "num_workers", now, then, ""});
      } else {
        out->push_back({"cheaper-decode", 3, Tr(l, Msg::kActCheaperDecode), "", "", "", ""});
      }
      prefetch();
      break;
    }
    case Cause::kCpuSaturated:
      if (workers > cores) {
        const std::string now = Whole(workers), then = Whole(cores);
        out->push_back({"fewer-workers", 1, Tr(l, Msg::kActFewerWorkers, now, then), "num_workers", now, then, ""});
      }
      out->push_back({"cheaper-decode", 3, Tr(l, Msg::kActCheaperDecode), "", "", "", ""});
      break;
    case Cause::kSlowStorage:
      out->push_back({"local-data", 3, Tr(l, Msg::kActLocalData), "", "", "", ""});
      prefetch();
      break;
    case Cause::kHostContention:
      out->push_back({"move-tenant", 3, Tr(l, Msg::kActMoveTenant), "", "", "", ""});
      break;
    case Cause::kHostToDevice:
      out->push_back({"pin-memory", 1, Tr(l, Msg::kActPin), "pin_memory", "", "true", ""});
      break;
    default:
      out->push_back({"cheaper-decode", 3, Tr(l, Msg::kActCheaperDecode), "", "", "", ""});
  }
}

void Unsaturated(const analysis::Finding& x, Lang l, std::vector<Recommendation>* out) {
  const double memory = x.features.Get(Feature::kMemUsedShare);
  if (!x.cause) {
    out->push_back({"probe", 1, Tr(l, Msg::kActProbe), "", "", "", ""});
    return;
  }
  switch (*x.cause) {
    case Cause::kSmallBatch:
      out->push_back({"double-batch", 2, Tr(l, Msg::kActDoubleBatch), "batch_size", "", "",
                      Tr(l, Msg::kCheckBatch, IsPresent(memory) ? Whole(memory * 100) : std::string("?"))});
      break;
    case Cause::kFullPrecision:
      out->push_back(
          {"mixed-precision", 2, Tr(l, Msg::kActMixedPrecision), "precision", "", "bf16", Tr(l, Msg::kCheckPrecision)});
      break;
    default:
      out->push_back({"fewer-syncs", 3, Tr(l, Msg::kActFewerSyncs), "", "", "", ""});
  }
}

void Interruptions(const analysis::Finding& x, Lang l, std::vector<Recommendation>* out) {
  if (x.id == FindingId::kCheckpoint) {
    out->push_back({"async-checkpoint", 1, Tr(l, Msg::kActAsyncCheckpoint), "checkpoint.async", "false", "true", ""});
    if (x.period_s) {
      out->push_back({"rarer-checkpoint", 2, Tr(l, Msg::kActRarerCheckpoint, Whole(*x.period_s)), "checkpoint.every",
                      "", "", Tr(l, Msg::kCheckFailures)});
    }
  } else if (x.id == FindingId::kEvaluation) {
    out->push_back(
        {"rarer-evaluation", 2, Tr(l, Msg::kActRarerEvaluation), "eval.every", "", "", Tr(l, Msg::kCheckEvaluation)});
  } else {
    out->push_back({"rarer-logging", 1, Tr(l, Msg::kActRarerLogging), "log_every_n_steps", "", "50", ""});
  }
}

void SeveralCards(const analysis::Finding& x, const std::vector<std::string>& gpus, Lang l,
                  std::vector<Recommendation>* out) {
  if (x.id == FindingId::kCommunication) {
    out->push_back({"overlap", 3, Tr(l, Msg::kActOverlap), "", "", "", Tr(l, Msg::kCheckAccumulation)});
  } else if (x.cause == Cause::kDataParallel) {
    out->push_back({"ddp", 3, Tr(l, Msg::kActDdp), "", "", "", ""});
  } else {
    out->push_back({"check-card", 3, Tr(l, Msg::kActStraggler, Join(gpus, ", ")), "", "", "", ""});
  }
}

}  // namespace

std::vector<Recommendation> Recommend(const analysis::Finding& x, const std::vector<std::string>& gpus, Lang l) {
  std::vector<Recommendation> out;
  const auto add = [&](const char* id, int level, Msg m) { out.push_back({id, level, Tr(l, m), "", "", "", ""}); };
  switch (x.id) {
    case FindingId::kDataLoading:
      DataLoading(x, l, &out);
      break;
    case FindingId::kUnsaturated:
      Unsaturated(x, l, &out);
      break;
    case FindingId::kCheckpoint:
    case FindingId::kEvaluation:
    case FindingId::kLogging:
      Interruptions(x, l, &out);
      break;
    case FindingId::kImbalance:
    case FindingId::kCommunication:
      SeveralCards(x, gpus, l, &out);
      break;
    case FindingId::kKernelInefficiency:
      add("fuse-kernels", 3, Msg::kActFuse);
      break;
    case FindingId::kThrottling:
      x.cause == Cause::kPower ? add("power-limit", 2, Msg::kActPowerLimit) : add("cooling", 3, Msg::kActCooling);
      break;
    case FindingId::kDegradation:
      add("compare-phases", 3, Msg::kActDegradation);
      break;
    case FindingId::kStartup:
      add("faster-start", 3, Msg::kActStartup);
      break;
    case FindingId::kRestartLoop:
      out.push_back({"stop-restarts", 3, Tr(l, Msg::kActRestart, std::string("3")), "", "", "", ""});
      break;
    case FindingId::kHang:
      add("dump-stacks", 3, Msg::kActHang);
      break;
    case FindingId::kIdleHeld:
      // One of several cards of a job that works on the others.
      if (x.features.Get(Feature::kCards) >= 2 && x.run < 0) {
        add("fewer-cards", 2, Msg::kActFewerCards);
      } else {
        add("release", 2, Msg::kActRelease);
      }
      break;
    case FindingId::kUnused:
      if (x.cause == Cause::kOverAllocated) {
        add("fewer-cards", 2, Msg::kActFewerCards);
      } else if (x.cause == Cause::kGap) {
        add("close-gaps", 3, Msg::kActCloseGaps);
      } else {
        add("give-back", 2, Msg::kActGiveBack);
      }
      break;
    case FindingId::kSharedGpu:
      add("own-card", 3, Msg::kActOwnCard);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace sawbill::advise
