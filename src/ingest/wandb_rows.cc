// SPDX-License-Identifier: Apache-2.0
//
// Keys, as W&B's own sampler writes them (its source: xpu/src/gpu_nvidia.rs, core/internal/monitor/system.go, 2026-08;
// no file of our own: unverified):
//   gpu.N.gpu                    NVML utilization.gpu, percent
//   gpu.N.memory                 NVML utilization.memory: the controller's activity, NOT memory used
//   gpu.N.memoryAllocated        memory used in percent of a total that is not in the file: left out
//   gpu.N.memoryAllocatedBytes   memory used, bytes
//   gpu.N.smActive, ...          percent, though the DCGM field behind it is a ratio: W&B multiplies by 100
//   gpu.process.N.*              the same readings once more, while the run's process is on the card: left out
//   cpu                          CPU of the run's process tree in percent of the cores that it may use
//   cpu.N.cpu_percent            one core of the host (older versions): their mean is the host's, and goes before `cpu`
#include "ingest/wandb_rows.h"

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using Kind = WandbKey::Kind;

constexpr size_t kMostCards = 4096;

struct Row {
  std::string_view name;
  Kind kind;
  GpuMetric metric;
  double factor;
  const char* taken_as;
  const char* unit;
};
constexpr double kToMib = 1.0 / 1048576;
constexpr Row kRows[] = {
    {"gpu", Kind::kCard, GpuMetric::kSmUtil, 1, "sm_util", "%"},
    {"memory", Kind::kCard, GpuMetric::kMemUtil, 1, "mem_util", "%"},
    {"memoryAllocatedBytes", Kind::kCard, GpuMetric::kMemUsedMb, kToMib, "mem_used_mb", "B"},
    {"memoryTotal", Kind::kTotal, GpuMetric::kMemUsedMb, kToMib, "memory_total_mb", "B"},
    {"temp", Kind::kCard, GpuMetric::kTempC, 1, "temp_c", "C"},
    {"powerWatts", Kind::kCard, GpuMetric::kPowerW, 1, "power_w", "W"},
    {"enforcedPowerLimitWatts", Kind::kLimit, GpuMetric::kPowerW, 1, "power_limit_w", "W"},
    {"smClock", Kind::kCard, GpuMetric::kSmClockMhz, 1, "sm_clock_mhz", "MHz"},
    {"memoryClock", Kind::kCard, GpuMetric::kMemClockMhz, 1, "mem_clock_mhz", "MHz"},
    {"smActive", Kind::kCard, GpuMetric::kSmActive, 0.01, "sm_active", "%"},
    {"smOccupancy", Kind::kCard, GpuMetric::kSmOccupancy, 0.01, "sm_occupancy", "%"},
    {"pipeTensorActive", Kind::kCard, GpuMetric::kTensorActive, 0.01, "tensor_active", "%"},
    {"dramActive", Kind::kCard, GpuMetric::kDramActive, 0.01, "dram_active", "%"},
};

/// "0.gpu" behind "gpu.".
void ReadCardKey(std::string_view rest, WandbKey* key) {
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return;
  const int64_t gpu = WholeNumber(rest.substr(0, dot));
  const std::string_view name = rest.substr(dot + 1);
  if (gpu < 0 || gpu >= static_cast<int64_t>(kMostCards)) return;
  if (name == "memoryAllocated") key->how = Msg::kIngestHowNoTotal;
  if (name == "powerPercent" || name == "fanSpeed" || name == "graphicsClock") key->how = Msg::kIngestHowIgnored;
  for (const Row& r : kRows) {
    if (r.name != name) continue;
    key->kind = r.kind, key->metric = r.metric, key->factor = r.factor;
    key->taken_as = r.taken_as, key->unit = r.unit;
    key->how = Msg::kIngestHowHeading;
    key->gpu = static_cast<int>(gpu);
  }
}

}  // namespace

WandbKey ReadWandbKey(std::string_view text) {
  WandbKey key;
  if (text == "_timestamp" || text == "Wall Time" || text == "timestamp") {
    key.kind = Kind::kTime;
    key.taken_as = "timestamp";
    key.how = Msg::kIngestHowHeading;
    return key;
  }
  if (text == "_runtime" || text == "_wandb" || text == "_step" || text == "Step") {
    key.how = Msg::kIngestHowIgnored;
    return key;
  }
  // A chart's export puts the run before the key. A run's name may hold " - " itself, so the last one counts.
  for (const std::string_view part : {" - system/", " - system."}) {
    const size_t at = text.rfind(part);
    if (at == std::string_view::npos) continue;
    key.run.assign(text.substr(0, at));
    text.remove_prefix(at + 3);
    break;
  }
  if (!StartsWith(text, "system.") && !StartsWith(text, "system/")) return key;
  text.remove_prefix(7);
  if (EndsWith(text, "__MIN") || EndsWith(text, "__MAX")) {  // of the points that a chart drew as one
    key.how = Msg::kIngestHowIgnored;
    return key;
  }
  if (StartsWith(key.run, "Group: ")) {
    key.how = Msg::kIngestHowManyRuns;
    return key;
  }
  if (StartsWith(text, "gpu.")) ReadCardKey(text.substr(4), &key);
  const bool core = StartsWith(text, "cpu.") && EndsWith(text, ".cpu_percent");
  if (text == "cpu" || core) {
    key.kind = core ? Kind::kCoreCpu : Kind::kOwnCpu;
    key.taken_as = "cpu_util";
    key.unit = "%";
    key.how = Msg::kIngestHowHeading;
  }
  return key;
}

void WandbRows::Value(const WandbKey& key, const std::string& node, double value) {
  if (key.kind == Kind::kLeftOut || key.kind == Kind::kTime || IsMissing(value)) return;
  row_.push_back({&key, &node, value});
}

void WandbRows::ValueOfWholeRow(const WandbKey& key, const std::string& node, double value) {
  if (key.kind != Kind::kCard || !timed_ || IsMissing(value)) return Value(key, node, value);
  const int card = Card({&key, &node, value});
  if (card < 0) return;
  samples_.Set(cards_[static_cast<size_t>(card)].card, t_ms_, key.metric, value * key.factor);
  set_ = true;
}

void WandbRows::DropRow() {
  set_ = false;
  row_.clear();
  timed_ = false;
}

int WandbRows::Card(const Reading& r) {
  const auto is = [&](const Known& k) { return k.gpu == r.key->gpu && k.node == *r.node; };
  // Readings of one card stand together.
  if (last_card_ < cards_.size() && is(cards_[last_card_])) return static_cast<int>(last_card_);
  for (last_card_ = 0; last_card_ < cards_.size(); ++last_card_) {
    if (is(cards_[last_card_])) return static_cast<int>(last_card_);
  }
  if (cards_.size() >= kMostCards) return -1;
  model::CardInfo card;
  card.gpu = std::to_string(r.key->gpu);
  card.node = *r.node;
  cards_.push_back({r.key->gpu, *r.node, samples_.Card(card)});
  return static_cast<int>(cards_.size()) - 1;
}

void WandbRows::SetCpu(const Cpu& cpu) {
  const int host = samples_.Host(*cpu.node);
  if (cpu.cores > 0) {
    samples_.SetHost(host, t_ms_, HostMetric::kCpuUtil, cpu.cores_sum / cpu.cores);
    samples_.SetHost(host, t_ms_, HostMetric::kCpuCount, cpu.cores);
  } else if (IsPresent(cpu.own)) {
    own_cpu_ = true;
    samples_.SetHost(host, t_ms_, HostMetric::kCpuUtil, cpu.own);
  }
}

void WandbRows::EndRow() {
  if (row_.empty()) {
    rows_ += set_ ? 1 : 0;
    return DropRow();
  }
  if (!timed_) {
    ++undated_;
    return DropRow();
  }
  ++rows_;
  cpus_.clear();
  for (const Reading& r : row_) {
    if (r.key->kind == Kind::kOwnCpu || r.key->kind == Kind::kCoreCpu) {
      Cpu* cpu = nullptr;
      for (Cpu& c : cpus_) cpu = *c.node == *r.node ? &c : cpu;
      if (cpu == nullptr) cpu = &cpus_.emplace_back(Cpu{r.node});
      if (r.key->kind == Kind::kOwnCpu) cpu->own = r.value;
      if (r.key->kind == Kind::kCoreCpu && r.value >= 0 && r.value <= 100.5) cpu->cores_sum += r.value, ++cpu->cores;
      continue;
    }
    const int at = Card(r);
    if (at < 0) continue;
    Known& known = cards_[static_cast<size_t>(at)];
    const double v = r.value * r.key->factor;
    if (r.key->kind == Kind::kCard) {
      samples_.Set(known.card, t_ms_, r.key->metric, v);
      continue;
    }
    const bool total = r.key->kind == Kind::kTotal;
    if ((total ? known.total : known.limit) || !(v > 0 && v <= (total ? 4e6 : 3000))) continue;
    model::CardInfo facts;
    facts.gpu = std::to_string(known.gpu);
    facts.node = known.node;
    (total ? facts.memory_total_mb : facts.power_limit_w) = v;
    samples_.Card(facts);
    (total ? known.total : known.limit) = true;
  }
  for (const Cpu& cpu : cpus_) SetCpu(cpu);
  DropRow();
}

Status WandbRows::Finish(std::string_view name, Explanation* explanation) {
  times_.Report(out_, explanation);
  if (explanation->time_format.empty()) explanation->time_format = "Unix s";
  if (rows_ == 0 && undated_ > 0) {
    return Status::Unsupported(
        Tr(context_.lang, Msg::kIngestNoDates, context_.file, "W&B", Tr(context_.lang, Msg::kIngestRemedyWandb)));
  }
  if (rows_ == 0) return NothingRead(name, context_, out_->quality);
  if (undated_ > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": row without a date", undated_);
  if (own_cpu_) out_->notes.push_back(Tr(context_.lang, Msg::kIngestNoteOwnCpu, "system.cpu"));
  explanation->rows = rows_;
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "gpu.N", samples_.cards());
  return samples_.Finish(explanation);
}

}  // namespace sawbill::ingest
