// SPDX-License-Identifier: Apache-2.0
#include "store/day_kinds.h"

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "model/metrics.h"

namespace sawbill::store {
namespace {
constexpr const char* kNames[] = {"gpu", "host", "process", "step", "run", "event", "minute"};
static_assert(std::size(kNames) == kDayKinds);

template <typename Metric>
void AddMetrics(size_t count, std::vector<std::string>* out) {
  for (size_t i = 0; i < count; ++i) out->push_back(model::Info(static_cast<Metric>(i)).name);
}

std::vector<std::string> MakeColumns(DayKind kind) {
  switch (kind) {
    case DayKind::kGpu: {
      std::vector<std::string> c = {"timestamp", "gpu"};
      AddMetrics<model::GpuMetric>(model::kGpuMetrics, &c);
      return c;
    }
    case DayKind::kHost: {
      std::vector<std::string> c = {"timestamp"};
      AddMetrics<model::HostMetric>(model::kHostMetrics, &c);
      return c;
    }
    case DayKind::kProcess: {
      std::vector<std::string> c = {"timestamp", "gpu", "pid", "user", "name", "job"};
      AddMetrics<model::ProcessMetric>(model::kProcessMetrics, &c);
      return c;
    }
    case DayKind::kStep:
      return {"timestamp",   "job",   "rank", "step", "data_wait_s", "step_s",
              "queue_depth", "event", "pid",  "gpu",  "event_s",     "loss"};
    case DayKind::kRun:
      return {"timestamp",       "run",         "job",     "user",       "project",   "node",    "gpus",
              "state",           "exit_status", "program", "batch_size", "precision", "seq_len", "num_workers",
              "prefetch_factor", "ckpt_every",  "git_sha"};
    case DayKind::kEvent:
      return {"timestamp", "kind", "gpu", "detail"};
    case DayKind::kMinute:
      return MinuteColumns();
    case DayKind::kCount:
      break;
  }
  return {};
}

struct Tables {
  std::array<std::vector<std::string>, kDayKinds> columns;
  std::array<std::string, kDayKinds> headers;
};

const Tables& AllTables() {
  static const Tables tables = [] {
    Tables t;
    for (size_t i = 0; i < kDayKinds; ++i) {
      t.columns[i] = MakeColumns(static_cast<DayKind>(i));
      t.headers[i] = Join(t.columns[i], ",");
    }
    return t;
  }();
  return tables;
}
}  // namespace

std::string_view Name(DayKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<DayKind> FindDayKind(std::string_view name) {
  for (size_t i = 0; i < kDayKinds; ++i) {
    if (name == kNames[i]) return static_cast<DayKind>(i);
  }
  return std::nullopt;
}

const std::vector<std::string>& Columns(DayKind kind) { return AllTables().columns[static_cast<size_t>(kind)]; }
const std::string& HeaderLine(DayKind kind) { return AllTables().headers[static_cast<size_t>(kind)]; }

std::vector<std::string> MinuteColumns() {
  std::vector<std::string> c = {"timestamp", "gpu", "covered_s"};
  for (size_t i = 0; i < model::kGpuMetrics; ++i) {
    const std::string name = model::Info(static_cast<model::GpuMetric>(i)).name;
    for (const char* end : {"_mean", "_min", "_max"}) c.push_back(name + end);
  }
  c.insert(c.end(), {"sm_util_p50", "sm_util_p95", "low_s"});
  return c;
}

std::optional<DayFileName> ParseDayFileName(std::string_view name) {
  DayFileName out;
  for (const char* suffix : {".gz", ".zst"}) {
    if (!EndsWith(name, suffix)) continue;
    out.suffix = suffix;
    name.remove_suffix(out.suffix.size());
    break;
  }
  if (!EndsWith(name, ".csv")) return std::nullopt;
  name.remove_suffix(4);
  constexpr size_t kDayLength = 10;
  if (name.size() < kDayLength + 2 || name[name.size() - kDayLength - 1] != '-') return std::nullopt;
  const std::string_view day = name.substr(name.size() - kDayLength);
  const std::optional<DayKind> kind = FindDayKind(name.substr(0, name.size() - kDayLength - 1));
  if (!kind || day[4] != '-' || !ParseCivil(day)) return std::nullopt;
  out.kind = *kind;
  out.day = std::string(day);
  return out;
}

std::string MakeDayFileName(DayKind kind, std::string_view day, std::string_view suffix) {
  return std::string(Name(kind)) + "-" + std::string(day) + ".csv" + std::string(suffix);
}

}  // namespace sawbill::store
