// SPDX-License-Identifier: Apache-2.0
//
// `nvidia-smi -q` is an outline: four blanks for each level, "Key : Value" at the leaves. A reading is known by its
// section and key ("Utilization" / "GPU"). Seen on drivers 590 to 610 (also MIG); names of older drivers ("Gpu", "Power
// Readings", "Clocks Throttle Reasons") as their manuals give them, which is unverified.
//
// The outline carries no index. Cards are numbered in the order of one capture, which is that of the index unless -i
// chose some of them; a uuid that is not masked identifies them.
#include "ingest/smi_query.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ThrottleBit;

constexpr size_t kMostCards = 4096;

struct LeafRow {
  std::string_view section, key;
  GpuMetric metric;
  double factor;
};
constexpr LeafRow kLeaves[] = {
    {"Utilization", "GPU", GpuMetric::kSmUtil, 1},
    {"Utilization", "Gpu", GpuMetric::kSmUtil, 1},
    {"Utilization", "Memory", GpuMetric::kMemUtil, 1},
    {"FB Memory Usage", "Used", GpuMetric::kMemUsedMb, 1},
    {"Temperature", "GPU Current Temp", GpuMetric::kTempC, 1},
    {"Clocks", "SM", GpuMetric::kSmClockMhz, 1},
    {"Clocks", "Memory", GpuMetric::kMemClockMhz, 1},
    {"PCI", "Rx Throughput", GpuMetric::kPcieRxMbS, 1e-3},  // KB/s, by NVML 1,000 bytes
    {"PCI", "Tx Throughput", GpuMetric::kPcieTxMbS, 1e-3},
};
constexpr struct {
  std::string_view key;
  ThrottleBit bit;
} kReasons[] = {{"Idle", ThrottleBit::kGpuIdle},
                {"Applications Clocks Setting", ThrottleBit::kAppClocks},
                {"SW Power Cap", ThrottleBit::kSwPowerCap},
                {"HW Slowdown", ThrottleBit::kHwSlowdown},
                {"HW Thermal Slowdown", ThrottleBit::kHwThermal},
                {"HW Power Brake Slowdown", ThrottleBit::kHwPowerBrake},
                {"Sync Boost", ThrottleBit::kSyncBoost},
                {"SW Thermal Slowdown", ThrottleBit::kSwThermal},
                {"Display Clock Setting", ThrottleBit::kDisplayClocks}};

bool Masked(std::string_view uuid) { return uuid.find_first_not_of("GPUMIG-0") == std::string_view::npos; }

class QueryLoop {
 public:
  QueryLoop(sys::LineReader* lines, const ReadContext& context, model::Recording* out)
      : lines_(*lines),
        context_(context),
        out_(out),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context) {}
  Status Read(std::string_view name, Explanation* explanation);

 private:
  void Line(std::string_view line);
  void Section(size_t level, std::string_view name);
  void Leaf(size_t level, std::string_view key, std::string_view value);
  void CardLeaf(std::string_view section, std::string_view key, std::string_view value);
  void PowerLeaf(std::string_view key, std::string_view value);
  void InstanceLeaf(std::string_view section, std::string_view key, std::string_view value);
  void ProcessLeaf(std::string_view key, std::string_view value);
  void BeginCard();
  void EndInstance();
  void EndProcess();
  void EndCard();
  std::string InstanceLabel(int64_t gi, int64_t ci) const { return fmt::format("{}.{}.{}", info_.gpu, gi, ci); }

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;

  bool timed_ = false, in_card_ = false;
  TimeMs t_ms_ = 0;
  int64_t captures_ = 0, timeless_ = 0, order_ = 0;
  std::string driver_;
  std::array<std::string, 6> path_;
  // The card that is being read.
  model::CardInfo info_;
  struct Value {
    GpuMetric metric;
    double value;
  };
  std::vector<Value> values_;
  double power_ = kMissing, power_average_ = kMissing, power_instant_ = kMissing;
  bool reasons_ = false;
  unsigned reason_mask_ = 0;
  struct Inner {  // an instance or a process
    bool open = false;
    int64_t gi = -1, ci = -1, pid = -1;
    double used = kMissing, total = kMissing;
    std::string name;
  };
  Inner instance_, process_;
  std::vector<Inner> instances_, processes_;
};

void QueryLoop::BeginCard() {
  EndCard();
  in_card_ = true;
  info_ = {};
  info_.driver = driver_;
  info_.gpu = std::to_string(order_++);
  values_.clear();
  power_ = power_average_ = power_instant_ = kMissing;
  reasons_ = false;
  reason_mask_ = 0;
  instances_.clear();
  processes_.clear();
}

void QueryLoop::EndInstance() {
  if (instance_.open) instances_.push_back(instance_);
  instance_ = {};
}
void QueryLoop::EndProcess() {
  if (process_.open && process_.pid >= 0) processes_.push_back(process_);
  process_ = {};
}

void QueryLoop::EndCard() {
  EndInstance();
  EndProcess();
  if (!in_card_) return;
  in_card_ = false;
  if (!timed_ || samples_.cards() >= kMostCards) return;
  const int card = samples_.Card(info_);
  samples_.Touch(card, t_ms_);
  for (const Value& v : values_) samples_.Set(card, t_ms_, v.metric, v.value);
  // "Average" is what NVML's plain reading is from Ampere on; where it is N/A there is the instantaneous one.
  const double power = IsPresent(power_) ? power_ : IsPresent(power_average_) ? power_average_ : power_instant_;
  samples_.Set(card, t_ms_, GpuMetric::kPowerW, power);
  if (reasons_) samples_.Set(card, t_ms_, GpuMetric::kThrottle, reason_mask_);
  for (const Inner& i : instances_) {
    if (i.gi < 0 || i.ci < 0) continue;
    model::CardInfo instance;
    instance.gpu = InstanceLabel(i.gi, i.ci);
    instance.parent_uuid = info_.uuid;
    instance.driver = driver_;
    if (i.total > 0 && i.total <= 4e6) instance.memory_total_mb = i.total;
    samples_.Set(samples_.Card(instance), t_ms_, GpuMetric::kMemUsedMb, i.used);
  }
  for (const Inner& p : processes_) {
    model::ProcessValues values;
    values.fill(kMissing);
    values[static_cast<size_t>(model::ProcessMetric::kGpuMemMb)] = p.used;
    int holder = card;
    if (p.gi >= 0 && p.ci >= 0) {
      model::CardInfo instance;
      instance.gpu = InstanceLabel(p.gi, p.ci);
      holder = samples_.Card(instance);
    }
    samples_.Process(t_ms_, holder, "", p.pid, ProcessName(p.name), "", values);
  }
}

void QueryLoop::PowerLeaf(std::string_view key, std::string_view value) {
  if (key == "Power Draw") power_ = TakeReading(value, &tally_);
  if (key == "Average Power Draw") power_average_ = TakeReading(value, &tally_);
  if (key == "Instantaneous Power Draw") power_instant_ = TakeReading(value, &tally_);
  if (key != "Current Power Limit" && key != "Enforced Power Limit" && key != "Power Limit") return;
  const double limit = TakeReading(value, &tally_);
  if (limit > 0 && limit <= 3000 && (key != "Power Limit" || !info_.power_limit_w)) info_.power_limit_w = limit;
}

void QueryLoop::InstanceLeaf(std::string_view section, std::string_view key, std::string_view value) {
  if (key == "GPU Instance ID") instance_.gi = WholeNumber(value);
  if (key == "Compute Instance ID") instance_.ci = WholeNumber(value);
  if (section != "Shared FB Memory Usage" && section != "FB Memory Usage") return;
  if (key == "Used") instance_.used = TakeReading(value, &tally_);
  if (key == "Total") instance_.total = TakeReading(value, &tally_);
}

void QueryLoop::ProcessLeaf(std::string_view key, std::string_view value) {
  if (key == "GPU instance ID" || (key == "Process ID" && process_.pid >= 0)) EndProcess();
  process_.open = true;
  if (key == "GPU instance ID") process_.gi = WholeNumber(value);
  if (key == "Compute instance ID") process_.ci = WholeNumber(value);
  if (key == "Process ID") process_.pid = WholeNumber(value);
  if (key == "Name") process_.name.assign(value);
  if (key == "Used GPU Memory") process_.used = TakeReading(value, &tally_);
}

void QueryLoop::CardLeaf(std::string_view section, std::string_view key, std::string_view value) {
  for (const LeafRow& leaf : kLeaves) {
    if (leaf.section == section && leaf.key == key) {
      const double v = TakeReading(value, &tally_);
      if (values_.size() < 64) values_.push_back({leaf.metric, v * leaf.factor});
      return;
    }
  }
  if (section == "FB Memory Usage" && key == "Total") {
    const double total = TakeReading(value, &tally_);
    if (total > 0 && total <= 4e6) info_.memory_total_mb = total;
  }
  if (section == "Max Clocks" && key == "SM") {
    const double most = TakeReading(value, &tally_);
    if (most > 0 && most <= 6000) info_.sm_clock_max_mhz = most;
  }
  if (section == "Power Readings" || section == "GPU Power Readings") PowerLeaf(key, value);
  if (section != "Clocks Event Reasons" && section != "Clocks Throttle Reasons") return;
  for (const auto& reason : kReasons) {
    if (key != reason.key) continue;
    reasons_ = reasons_ || value == "Active" || value == "Not Active";
    if (value == "Active") reason_mask_ |= Mask(reason.bit);
  }
}

void QueryLoop::Leaf(size_t level, std::string_view key, std::string_view value) {
  if (level == 0) {
    if (key == "Timestamp") {
      EndCard();
      ++captures_;
      order_ = 0;
      timed_ = times_.Parse(value, &t_ms_);
      if (!timed_) ++timeless_;
    }
    if (key == "Driver Version") driver_ = Sanitize(value.substr(0, 24));
    return;
  }
  if (!in_card_) return;
  if (level == 1) {
    if (key == "Product Name") info_.name.assign(value.substr(0, 96));
    if (key == "GPU UUID" && !Masked(value)) info_.uuid.assign(value.substr(0, 96));
    path_[1].assign(key);  // "Remapped Rows : N/A" ends the section before
    return;
  }
  if (path_[1] == "MIG Device") return InstanceLeaf(level >= 3 ? path_[2] : "", key, value);
  if (path_[1] == "Processes") return ProcessLeaf(key, value);
  CardLeaf(path_[1], key, value);
}

void QueryLoop::Section(size_t level, std::string_view name) {
  if (level == 0) {
    if (StartsWith(name, "GPU ")) return BeginCard();
    if (name.find("NVSMI LOG") != std::string_view::npos) order_ = 0;
    return;
  }
  if (level >= path_.size() || name.size() > 64) return;
  if (level == 1) {
    EndInstance();
    EndProcess();
    instance_.open = name == "MIG Device";
  }
  path_[level].assign(name);
}

void QueryLoop::Line(std::string_view line) {
  size_t indent = 0;
  while (indent < line.size() && line[indent] == ' ') ++indent;
  if (indent == line.size()) return;
  // Keys are padded to one width, so that " : " parts them; bus addresses and times have colons without blanks.
  size_t colon = line.find(':', indent + 1);
  while (colon != std::string_view::npos && (line[colon - 1] != ' ' || line.substr(colon + 1, 1) != " ")) {
    colon = line.find(':', colon + 1);
  }
  if (colon != std::string_view::npos) {
    return Leaf(indent / 4, Trim(line.substr(indent, colon - indent)), Trim(line.substr(colon + 1)));
  }
  Section(indent / 4, Trim(line));
}

Status QueryLoop::Read(std::string_view name, Explanation* explanation) {
  std::string_view line;
  while (lines_.Next(&line)) Line(line);
  EndCard();
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  ExplainFixed({{"Utilization / GPU", "sm_util", "%"},
                {"Utilization / Memory", "mem_util", "%"},
                {"FB Memory Usage / Used", "mem_used_mb", "MiB"},
                {"GPU Power Readings", "power_w", "W"},
                {"Temperature / GPU Current Temp", "temp_c", "C"},
                {"Clocks / SM", "sm_clock_mhz", "MHz"},
                {"Clocks Event Reasons", "throttle", ""}},
               context_, explanation);
  times_.Report(out_, explanation);
  if (captures_ == timeless_) {
    return Status::Unsupported(
        Tr(context_.lang, Msg::kIngestNoDates, context_.file, "nvidia-smi -q", "`nvidia-smi -q -l 1`"));
  }
  if (samples_.cards() == 0) return NothingRead(name, context_, out_->quality);
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "GPU", samples_.cards());
  return samples_.Finish(explanation);
}

class SmiQueryFormat : public Format {
 public:
  std::string_view name() const override { return "nvidia-smi -q"; }
  double Certainty(std::string_view sample) const override {
    const size_t log = sample.find("==NVSMI LOG==");
    if (log == std::string_view::npos || sample.find("Attached GPUs", log) == std::string_view::npos) return 0;
    // Deep in a file of other things it is one capture among them.
    return log < 4096 ? 0.98 : 0.4;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return QueryLoop(lines, context, out).Read(name(), explanation);
  }
};

}  // namespace

const Format& SmiQuery() {
  static const SmiQueryFormat format;
  return format;
}

}  // namespace sawbill::ingest
