// SPDX-License-Identifier: Apache-2.0
// What a heading means: the one alias table of column names, by normalised name. A new alias is one row in fields.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/metrics.h"

namespace sawbill::ingest {

/// Where a column's readings go.
enum class Target : unsigned char {
  kUnknown,  // no such name
  kIgnored,  // a known name that says nothing about waste
  kTime,
  kNumber,         // Field::slot is a NumberSlot
  kDouble,         // Field::slot is a DoubleSlot
  kText,           // Field::slot is a TextSlot
  kThrottleMask,   // NVML's bit mask in hex
  kThrottleNames,  // our own "none", "sw_power_cap|hw_thermal"
  kThrottleFlag,   // "Active" / "Not Active"; Field::slot is a model::ThrottleBit
};

/// Float columns: gpu metrics first (by their own numbers), then facts about the card, then host and process metrics.
using NumberSlot = int;
inline constexpr NumberSlot kMemoryTotalSlot = static_cast<int>(model::kGpuMetrics);
inline constexpr NumberSlot kMemoryFreeSlot = kMemoryTotalSlot + 1;
inline constexpr NumberSlot kMemoryReservedSlot = kMemoryTotalSlot + 2;
inline constexpr NumberSlot kPowerLimitSlot = kMemoryTotalSlot + 3;
inline constexpr NumberSlot kSmClockMaxSlot = kMemoryTotalSlot + 4;
inline constexpr NumberSlot kCardCountSlot = kMemoryTotalSlot + 5;
inline constexpr NumberSlot kPidSlot = kMemoryTotalSlot + 6;
inline constexpr NumberSlot kFirstHostSlot = kMemoryTotalSlot + 7;
inline constexpr NumberSlot kFirstProcessSlot = kFirstHostSlot + static_cast<int>(model::kHostMetrics);
inline constexpr int kNumberSlots = kFirstProcessSlot + static_cast<int>(model::kProcessMetrics);
inline NumberSlot Slot(model::GpuMetric m) { return static_cast<int>(m); }

/// Columns that a float cannot hold.
enum DoubleSlot { kEnergySlot, kStartedSlot, kDoubleSlots };
enum TextSlot {
  kUuidText,
  kIndexText,
  kGpuText,
  kBusIdText,
  kNameText,
  kDriverText,
  kNodeText,
  kUserText,
  kProcessText,
  kJobText,
  kTextSlots
};

enum class Quantity : unsigned char { kPlain, kPercent, kMemory, kPower, kClock, kTemperature, kEnergy };

struct Field {
  Target target = Target::kUnknown;
  int slot = 0;
  Quantity quantity = Quantity::kPlain;
  int rank = 0;               // of several columns for one slot the lowest rank is taken
  const char* unit = "";      // the field's usual unit, and the one it is kept in
  const char* taken_as = "";  // for explanations
};

struct Heading {
  Field field;
  std::string name;  // as it stands, without unit, blanks and quotes
  std::string unit;  // "MiB", "%", ... from the brackets or the end of the name; "" where it gives none
};

/// Reads one heading: "utilization.gpu [%]", "mem_used_MB", "GPU-Util". `scope` says whose names of our own count.
Heading ReadHeading(std::string_view cell, model::Scope scope);

/// Python's GPUtil names its readings `id`, `load`, `memoryUtil` and `memoryUsed`: the first two mean a card only
/// beside the others.
bool IsOfGpuUtil(std::string_view cell);
std::optional<Field> GpuUtilField(std::string_view cell);

/// False for what ReadHeading() certainly takes for no time, at the price of a look at its first letter: a file may
/// hold millions of lines that are asked whether they are headings.
bool MayNameTime(std::string_view cell);

/// The factor from `unit` to the unit in which a quantity is kept; nothing for a unit that is not one of it.
/// MB and GB are read as MiB and GiB: what NVML counts is that, and tools that print "MB" print NVML's number.
std::optional<double> UnitFactor(Quantity q, std::string_view unit);

Field FieldOf(model::GpuMetric m);

}  // namespace sawbill::ingest
