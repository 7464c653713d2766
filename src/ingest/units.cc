// SPDX-License-Identifier: Apache-2.0
#include "ingest/units.h"

#include <algorithm>
#include <cmath>

#include "ingest/layout_rows.h"
#include "ingest/ratio.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

constexpr float kNaN = static_cast<float>(kMissing);

/// Memory without a unit above 4 TiB, if it were MiB, is bytes.
void BytesToMib(Table* table, NumberSlot slot, const ReadContext& context, std::vector<std::string>* notes) {
  if (!table->has(slot)) return;
  std::vector<float>& v = table->numbers[static_cast<size_t>(slot)];
  bool bytes = false;
  for (size_t l = 0; l < table->layouts.size(); ++l) {
    const Column* c = FindColumn(table->layouts[l], slot);
    if (c == nullptr || c->heading_unit || c->saw_unit) continue;
    bool large = false, small = false;
    ForRowsOf(*table, l, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) {
        large = large || v[i] > 4e6F;
        small = small || (v[i] > 0 && v[i] < 4096);
      }
    });
    if (!large || small) continue;
    bytes = true;
    ForRowsOf(*table, l, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) v[i] /= 1048576.0F;
    });
  }
  if (bytes)
    notes->push_back(
        Tr(context.lang, Msg::kIngestNoteBytes, slot == kMemoryTotalSlot ? "memory_total_mb" : "mem_used_mb"));
}

/// "mem_util" that equals used/total in every row is a share of memory, not the controller's activity.
void DropMemoryShare(Table* table, const ReadContext& context, std::vector<std::string>* notes) {
  const NumberSlot util = Slot(GpuMetric::kMemUtil), used = Slot(GpuMetric::kMemUsedMb);
  if (!table->has(util) || !table->has(used) || !table->has(kMemoryTotalSlot)) return;
  const auto &u = table->number(util), &m = table->number(used), &t = table->number(kMemoryTotalSlot);
  size_t alike = 0;
  float least = 1e9F, most = 0;
  for (size_t i = 0; i < table->rows; ++i) {
    const float share = 100 * m[i] / t[i];
    if (std::isnan(share) || std::isnan(u[i])) continue;
    if (std::fabs(share - u[i]) > 1.01F) return;
    if (share < 3) continue;
    ++alike;
    least = std::min(least, u[i]);
    most = std::max(most, u[i]);
  }
  if (alike < 10 || most - least < 3) return;
  table->numbers[static_cast<size_t>(util)].clear();
  notes->push_back(Tr(context.lang, Msg::kIngestNoteMemoryShare));
}

/// NVML's older memory call counts what the driver keeps for itself as used; memory.reserved then stands inside
/// memory.used. It is taken off only where the numbers show that: used + free = total, or used never below reserved and
/// close to it.
void TakeOffReserved(Table* table, const ReadContext& context, std::vector<std::string>* notes) {
  const NumberSlot slot = Slot(GpuMetric::kMemUsedMb);
  if (!table->has(slot) || !table->has(kMemoryReservedSlot)) return;
  std::vector<float>& used = table->numbers[static_cast<size_t>(slot)];
  const auto& reserved = table->number(kMemoryReservedSlot);
  const bool sums = table->has(kMemoryFreeSlot) && table->has(kMemoryTotalSlot);
  size_t inside = 0, outside = 0, seen = 0;
  float nearest = 1e9F;
  for (size_t i = 0; i < table->rows; ++i) {
    if (std::isnan(used[i]) || std::isnan(reserved[i])) continue;
    ++seen;
    nearest = std::min(nearest, used[i] - reserved[i]);
    if (!sums || reserved[i] <= 4) continue;
    const float rest = table->number(kMemoryTotalSlot)[i] - table->number(kMemoryFreeSlot)[i] - used[i];
    inside += std::fabs(rest) <= 2 ? 1 : 0;
    outside += std::fabs(rest - reserved[i]) <= 2 ? 1 : 0;
  }
  if (seen == 0) return;
  const bool take_off = inside + outside > 0 ? inside > outside : nearest >= 0 && nearest <= 64;
  if (take_off && nearest >= 0) {
    for (size_t i = 0; i < table->rows; ++i) {
      if (!std::isnan(reserved[i])) used[i] -= reserved[i];
    }
  }
  notes->push_back(
      Tr(context.lang, take_off && nearest >= 0 ? Msg::kIngestNoteReservedOff : Msg::kIngestNoteReservedKept));
}

}  // namespace

void SettleUnits(Table* table, const ReadContext& context, model::DataQuality* quality,
                 std::vector<std::string>* notes) {
  for (const Layout& l : table->layouts) {
    for (size_t i = 0; i < l.columns.size(); ++i) {
      const Column& c = l.columns[i];
      const bool measures = c.field.target == Target::kNumber && c.field.quantity != Quantity::kPlain;
      if (!measures || !c.saw_bare || c.heading_unit) continue;
      quality->Count(Odd::kUnitAssumed, context.file + ": " + c.field.taken_as + " [" + c.field.unit + "]");
    }
  }
  for (const NumberSlot slot : {Slot(GpuMetric::kMemUsedMb), kMemoryTotalSlot, kMemoryFreeSlot, kMemoryReservedSlot}) {
    BytesToMib(table, slot, context, notes);
  }
  RatiosToPercent(table, Slot(GpuMetric::kSmUtil), context, quality, notes);
  RatiosToPercent(table, Slot(GpuMetric::kMemUtil), context, quality, notes);
  DropMemoryShare(table, context, notes);
  TakeOffReserved(table, context, notes);
}

void CheckRanges(Table* table, const ReadContext& context, model::DataQuality* quality) {
  const auto check = [&](std::vector<float>* v, const model::MetricInfo& info) {
    const auto least = static_cast<float>(info.min), most = static_cast<float>(info.max);
    int64_t out = 0;
    for (float& x : *v) {
      if (x < least || x > most) {
        x = kNaN;
        ++out;
      }
    }
    if (out > 0) quality->Count(Odd::kOutOfRange, context.file + ": " + info.name, out);
  };
  for (size_t m = 0; m < model::kGpuMetrics; ++m) check(&table->numbers[m], model::Info(static_cast<GpuMetric>(m)));
  for (size_t m = 0; m < model::kHostMetrics; ++m) {
    check(&table->numbers[static_cast<size_t>(kFirstHostSlot) + m], model::Info(static_cast<model::HostMetric>(m)));
  }
  for (size_t m = 0; m < model::kProcessMetrics; ++m) {
    check(&table->numbers[static_cast<size_t>(kFirstProcessSlot) + m],
          model::Info(static_cast<model::ProcessMetric>(m)));
  }
  int64_t bad_energy = 0;
  for (double& x : table->doubles[kEnergySlot]) {
    if (x < 0 || x > model::Info(GpuMetric::kEnergyJ).max) {
      x = kMissing;
      ++bad_energy;
    }
  }
  if (bad_energy > 0) quality->Count(Odd::kOutOfRange, context.file + ": energy_j", bad_energy);
}

}  // namespace sawbill::ingest
