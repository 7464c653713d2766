// SPDX-License-Identifier: Apache-2.0
#include "ingest/fields.h"

#include <array>
#include <iterator>

#include "base/text.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::ThrottleBit;

constexpr Field Number(GpuMetric m, Quantity q, const char* unit, const char* as, int rank = 0) {
  return {Target::kNumber, static_cast<int>(m), q, rank, unit, as};
}
constexpr Field Fact(NumberSlot slot, Quantity q, const char* unit, const char* as, int rank = 0) {
  return {Target::kNumber, slot, q, rank, unit, as};
}
constexpr Field Text(TextSlot slot, const char* as, int rank = 0) {
  return {Target::kText, slot, Quantity::kPlain, rank, "", as};
}
constexpr Field Flag(ThrottleBit b) {
  return {Target::kThrottleFlag, static_cast<int>(b), Quantity::kPlain, 1, "", "throttle"};
}

constexpr Field kTimeField = {Target::kTime, 0, Quantity::kPlain, 0, "", "timestamp"};
constexpr Field kSmUtil = Number(GpuMetric::kSmUtil, Quantity::kPercent, "%", "sm_util");
constexpr Field kMemUtil = Number(GpuMetric::kMemUtil, Quantity::kPercent, "%", "mem_util");
constexpr Field kMemUsed = Number(GpuMetric::kMemUsedMb, Quantity::kMemory, "MiB", "mem_used_mb");
constexpr Field kTemp = Number(GpuMetric::kTempC, Quantity::kTemperature, "C", "temp_c");
constexpr Field kSmClock = Number(GpuMetric::kSmClockMhz, Quantity::kClock, "MHz", "sm_clock_mhz");
constexpr Field kMemClock = Number(GpuMetric::kMemClockMhz, Quantity::kClock, "MHz", "mem_clock_mhz");
constexpr Field kMemTotal = Fact(kMemoryTotalSlot, Quantity::kMemory, "MiB", "memory_total_mb");

constexpr Field Ranked(Field f, int rank) {
  f.rank = rank;
  return f;
}

struct Alias {
  std::string_view name;  // normalised: lower case, separators as '.', without the unit
  Field field;
};
constexpr Alias kAliases[] = {
    {"timestamp", kTimeField},
    {"time", Ranked(kTimeField, 1)},
    {"datetime", Ranked(kTimeField, 1)},
    {"date.time", Ranked(kTimeField, 1)},
    {"time.stamp", Ranked(kTimeField, 1)},
    {"date", Ranked(kTimeField, 2)},
    {"ts", Ranked(kTimeField, 1)},
    {"epoch", Ranked(kTimeField, 1)},
    {"unix.time", Ranked(kTimeField, 1)},
    {"unix.timestamp", Ranked(kTimeField, 1)},
    {"unix.ts", Ranked(kTimeField, 1)},

    {"utilization.gpu", kSmUtil},
    {"gpu.utilization", Ranked(kSmUtil, 1)},
    {"gpu.util", Ranked(kSmUtil, 1)},
    {"sm.util", Ranked(kSmUtil, 1)},
    {"sm.utilization", Ranked(kSmUtil, 1)},
    {"util.gpu", Ranked(kSmUtil, 1)},
    {"gpu.usage", Ranked(kSmUtil, 2)},
    {"gpu.load", Ranked(kSmUtil, 2)},
    {"utilization", Ranked(kSmUtil, 3)},
    {"util", Ranked(kSmUtil, 3)},
    {"gpu.core.load", Ranked(kSmUtil, 2)},
    {"utilization.memory", kMemUtil},
    {"memory.utilization", Ranked(kMemUtil, 1)},
    {"memory.util", Ranked(kMemUtil, 1)},
    {"mem.utilization", Ranked(kMemUtil, 1)},
    {"mem.util", Ranked(kMemUtil, 1)},
    {"util.memory", Ranked(kMemUtil, 1)},
    {"util.mem", Ranked(kMemUtil, 1)},

    {"memory.used", kMemUsed},
    {"mem.used", Ranked(kMemUsed, 1)},
    {"used.memory", Ranked(kMemUsed, 1)},
    {"gpu.memory.used", Ranked(kMemUsed, 1)},
    {"gpu.mem.used", Ranked(kMemUsed, 1)},
    {"vram.used", Ranked(kMemUsed, 1)},
    {"memory.usage", Ranked(kMemUsed, 2)},
    {"mem.usage", Ranked(kMemUsed, 2)},
    {"memoryused", Ranked(kMemUsed, 2)},  // GPUtil
    {"memorytotal", Ranked(kMemTotal, 2)},
    {"memory.total", kMemTotal},
    {"mem.total", Ranked(kMemTotal, 1)},
    {"total.memory", Ranked(kMemTotal, 1)},
    {"gpu.memory.total", Ranked(kMemTotal, 1)},
    {"gpu.mem.total", Ranked(kMemTotal, 1)},
    {"vram.total", Ranked(kMemTotal, 1)},
    {"memory.free", Fact(kMemoryFreeSlot, Quantity::kMemory, "MiB", "memory free")},
    {"mem.free", Fact(kMemoryFreeSlot, Quantity::kMemory, "MiB", "memory free", 1)},
    {"memory.reserved", Fact(kMemoryReservedSlot, Quantity::kMemory, "MiB", "memory reserved")},

    {"power.draw", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w")},
    {"power", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w", 1)},
    {"power.usage", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w", 1)},
    {"gpu.power", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w", 1)},
    {"power.draw.average", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w (average)", 2)},
    {"power.draw.instant", Number(GpuMetric::kPowerW, Quantity::kPower, "W", "power_w (instant)", 3)},
    {"enforced.power.limit", Fact(kPowerLimitSlot, Quantity::kPower, "W", "power_limit_w")},
    {"power.limit", Fact(kPowerLimitSlot, Quantity::kPower, "W", "power_limit_w", 1)},
    {"power.cap", Fact(kPowerLimitSlot, Quantity::kPower, "W", "power_limit_w", 1)},
    {"total.energy.consumption", {Target::kDouble, kEnergySlot, Quantity::kEnergy, 0, "mJ", "energy_j"}},

    {"temperature.gpu", kTemp},
    {"temperature", Ranked(kTemp, 1)},
    {"temp", Ranked(kTemp, 1)},
    {"gpu.temp", Ranked(kTemp, 1)},
    {"gpu.temperature", Ranked(kTemp, 1)},
    {"temp.gpu", Ranked(kTemp, 1)},

    {"clocks.sm", kSmClock},
    {"clocks.current.sm", kSmClock},
    {"sm.clock", Ranked(kSmClock, 1)},
    {"clock.sm", Ranked(kSmClock, 1)},
    {"clocks.gr", Ranked(kSmClock, 2)},
    {"clocks.current.graphics", Ranked(kSmClock, 2)},
    {"gpu.clock", Ranked(kSmClock, 2)},
    {"clocks.mem", kMemClock},
    {"clocks.current.memory", kMemClock},
    {"mem.clock", Ranked(kMemClock, 1)},
    {"memory.clock", Ranked(kMemClock, 1)},
    {"clock.mem", Ranked(kMemClock, 1)},
    {"clocks.max.sm", Fact(kSmClockMaxSlot, Quantity::kClock, "MHz", "sm_clock_max_mhz")},

    {"uuid", Text(kUuidText, "uuid")},
    {"gpu.uuid", Text(kUuidText, "uuid", 1)},
    {"index", Text(kIndexText, "card")},
    {"gpu.index", Text(kIndexText, "card", 1)},
    {"gpu.id", Text(kIndexText, "card", 1)},
    {"gpu.idx", Text(kIndexText, "card", 1)},
    {"gpu.number", Text(kIndexText, "card", 1)},
    {"device.index", Text(kIndexText, "card", 2)},
    {"device.id", Text(kIndexText, "card", 2)},
    {"device", Text(kIndexText, "card", 2)},
    {"gpu", Text(kGpuText, "card")},
    {"pci.bus.id", Text(kBusIdText, "pci.bus_id")},
    {"gpu.bus.id", Text(kBusIdText, "pci.bus_id", 1)},
    {"name", Text(kNameText, "name")},
    {"gpu.name", Text(kNameText, "name", 1)},
    {"product.name", Text(kNameText, "name", 1)},
    {"device.name", Text(kNameText, "name", 1)},
    {"model", Text(kNameText, "name", 2)},
    {"driver.version", Text(kDriverText, "driver")},
    {"hostname", Text(kNodeText, "node")},
    {"host", Text(kNodeText, "node", 1)},
    {"node", Text(kNodeText, "node", 1)},
    {"count", Fact(kCardCountSlot, Quantity::kPlain, "", "number of cards")},
};

constexpr Alias kThrottleFlags[] = {
    {"gpu.idle", Flag(ThrottleBit::kGpuIdle)},
    {"applications.clocks.setting", Flag(ThrottleBit::kAppClocks)},
    {"sw.power.cap", Flag(ThrottleBit::kSwPowerCap)},
    {"hw.slowdown", Flag(ThrottleBit::kHwSlowdown)},
    {"hw.thermal.slowdown", Flag(ThrottleBit::kHwThermal)},
    {"hw.power.brake.slowdown", Flag(ThrottleBit::kHwPowerBrake)},
    {"sw.thermal.slowdown", Flag(ThrottleBit::kSwThermal)},
    {"sync.boost", Flag(ThrottleBit::kSyncBoost)},
    {"display.clocks.setting", Flag(ThrottleBit::kDisplayClocks)},
};

// nvidia-smi fields (and their kin) that are known and say nothing about waste: no "unknown column" for them.
constexpr std::string_view kIgnoredPrefixes[] = {"pci.",
                                                 "pcie.",
                                                 "ecc.",
                                                 "clocks.",
                                                 "fan",
                                                 "pstate",
                                                 "performance.state",
                                                 "display.",
                                                 "encoder.",
                                                 "utilization.encoder",
                                                 "utilization.decoder",
                                                 "utilization.jpeg",
                                                 "utilization.ofa",
                                                 "retired.pages",
                                                 "remapped.rows",
                                                 "mig.",
                                                 "vgpu.",
                                                 "power.",
                                                 "module.",
                                                 "gom.",
                                                 "inforom.",
                                                 "compute.",
                                                 "accounting.",
                                                 "persistence.",
                                                 "fabric.",
                                                 "temperature.",
                                                 "conf.",
                                                 "serial",
                                                 "vbios.",
                                                 "driver.",
                                                 "addressing.",
                                                 "dramencryption.",
                                                 "gpu.recovery.",
                                                 "protected.",
                                                 "edpp.",
                                                 "platform.",
                                                 "gsp.",
                                                 "c2c.",
                                                 "memoryutil",  // GPUtil: a share of memory in use
                                                 "kmd.",
                                                 "cuda.version",
                                                 "gpu.serial",
                                                 "decoder.",
                                                 "enforced.power."};

// GPUtil's attributes, which are too common to be taken without it.
constexpr Alias kGpuUtilAliases[] = {{"id", Text(kIndexText, "card", 3)}, {"load", Ranked(kSmUtil, 4)}};

bool IsSeparator(char c) { return c == '_' || c == ' ' || c == '-' || c == '/' || c == '.' || c == '\t'; }

/// "Memory-Used (MiB)" -> name "memory.used" with unit "MiB".
std::string Normalise(std::string_view s, std::string* unit) {
  const size_t open = s.find_first_of("[(");
  if (open != std::string_view::npos && open > 0) {
    std::string_view inside = s.substr(open + 1);
    inside = inside.substr(0, inside.find_first_of("])"));
    *unit = std::string(Trim(inside));
    s = s.substr(0, open);
  }
  s = Trim(s);
  if (!s.empty() && s.back() == '%') {
    *unit = "%";
    s.remove_suffix(1);
  }
  std::string out;
  for (const char c : s) {
    if (!IsSeparator(c)) {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!out.empty() && out.back() != '.') {
      out += '.';
    }
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

struct UnitName {
  std::string_view suffix;  // of a normalised heading
  const char* unit;
};
constexpr UnitName kUnitSuffixes[] = {
    {".percent", "%"}, {".pct", "%"},      {".mib", "MiB"}, {".mb", "MB"},     {".gib", "GiB"}, {".gb", "GB"},
    {".kib", "KiB"},   {".kb", "KB"},      {".bytes", "B"}, {".watts", "W"},   {".watt", "W"},  {".mw", "mW"},
    {".w", "W"},       {".mhz", "MHz"},    {".ghz", "GHz"}, {".celsius", "C"}, {".degc", "C"},  {".c", "C"},
    {".mj", "mJ"},     {".joules", "J"},   {".j", "J"},     {".s", "s"},       {".sec", "s"},   {".ms", "ms"},
    {".us", "us"},     {".ratio", "ratio"}};

std::optional<Field> Lookup(std::string_view name) {
  for (const Alias& a : kAliases) {
    if (name == a.name) return a.field;
  }
  for (const std::string_view prefix : {"clocks.throttle.reasons.", "clocks.event.reasons."}) {
    if (!StartsWith(name, prefix)) continue;
    const std::string_view reason = name.substr(prefix.size());
    if (reason == "active") return Field{Target::kThrottleMask, 0, Quantity::kPlain, 0, "", "throttle"};
    for (const Alias& a : kThrottleFlags) {
      if (reason == a.name) return a.field;
    }
  }
  return std::nullopt;
}

bool IsIgnored(std::string_view name) {
  for (const std::string_view prefix : kIgnoredPrefixes) {
    if (StartsWith(name, prefix)) return true;
  }
  return false;
}

/// Our own column names, exactly as day files carry them.
std::optional<Field> OwnColumn(std::string_view name, model::Scope scope) {
  if (scope == model::Scope::kGpu) {
    if (name == "throttle") return Field{Target::kThrottleNames, 0, Quantity::kPlain, 0, "", "throttle"};
    if (name == "energy_j") return Field{Target::kDouble, kEnergySlot, Quantity::kEnergy, 0, "J", "energy_j"};
    if (const auto m = model::FindGpuMetric(name)) return FieldOf(*m);
    return std::nullopt;
  }
  if (scope == model::Scope::kHost) {
    const auto m = model::FindHostMetric(name);
    if (!m) return std::nullopt;
    return Fact(kFirstHostSlot + static_cast<int>(*m), Quantity::kPlain, model::Info(*m).unit, model::Info(*m).name);
  }
  if (name == "pid") return Fact(kPidSlot, Quantity::kPlain, "", "pid");
  if (name == "user") return Text(kUserText, "user");
  if (name == "name") return Text(kProcessText, "name");
  if (name == "job") return Text(kJobText, "job");
  if (name == "started") return Field{Target::kDouble, kStartedSlot, Quantity::kPlain, 0, "s", "started"};
  const auto m = model::FindProcessMetric(name);
  if (!m) return std::nullopt;
  return Fact(kFirstProcessSlot + static_cast<int>(*m), Quantity::kPlain, model::Info(*m).unit, model::Info(*m).name);
}

std::string_view Unquoted(std::string_view cell) {
  cell = Trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = Trim(cell.substr(1, cell.size() - 2));
  return cell;
}

}  // namespace

Field FieldOf(model::GpuMetric m) {
  const model::MetricInfo& info = model::Info(m);
  Field f = Number(m, Quantity::kPlain, info.unit, info.name);
  switch (m) {
    case GpuMetric::kSmUtil:
      return kSmUtil;
    case GpuMetric::kMemUtil:
      return kMemUtil;
    case GpuMetric::kMemUsedMb:
      return kMemUsed;
    case GpuMetric::kTempC:
      return kTemp;
    case GpuMetric::kPowerW:
      return Number(m, Quantity::kPower, "W", "power_w");
    case GpuMetric::kSmClockMhz:
      return kSmClock;
    case GpuMetric::kMemClockMhz:
      return kMemClock;
    default:
      return f;
  }
}

bool MayNameTime(std::string_view cell) {
  static constexpr std::array<bool, 256> kFirst = [] {
    std::array<bool, 256> first{};
    for (const Alias& a : kAliases) {
      if (a.field.target == Target::kTime) first[static_cast<unsigned char>(a.name[0])] = true;
    }
    return first;
  }();
  // All that reading the heading takes off in front, quotes and blanks and separators.
  for (const char c : cell) {
    if (IsSeparator(c) || c == '"' || (c >= '\t' && c <= '\r')) continue;
    return kFirst[static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c)];
  }
  return false;
}

Heading ReadHeading(std::string_view cell, model::Scope scope) {
  Heading h;
  cell = Unquoted(cell);
  h.name = Sanitize(cell);
  if (const auto own = OwnColumn(cell, scope)) {
    h.field = *own;
    h.unit = own->unit;
    return h;
  }
  const std::string name = Normalise(cell, &h.unit);
  if (const auto found = Lookup(name)) {
    h.field = *found;
  } else {
    for (const UnitName& u : kUnitSuffixes) {
      if (!EndsWith(name, u.suffix)) continue;
      const auto without = Lookup(std::string_view(name).substr(0, name.size() - u.suffix.size()));
      if (!without) break;
      h.field = *without;
      h.unit = u.unit;
      break;
    }
  }
  if (h.field.target == Target::kUnknown && IsIgnored(name)) h.field.target = Target::kIgnored;
  // "Memory-Usage [%]" is a share of memory, which is none of our columns; "C" of a percent column likewise.
  const bool measures = h.field.target == Target::kNumber || h.field.target == Target::kDouble;
  if (measures && !h.unit.empty() && !UnitFactor(h.field.quantity, h.unit)) h.field = Field{};
  return h;
}

bool IsOfGpuUtil(std::string_view cell) {
  std::string unit;
  const std::string name = Normalise(Unquoted(cell), &unit);
  return name == "memoryutil" || name == "memoryused";
}

std::optional<Field> GpuUtilField(std::string_view cell) {
  std::string unit;
  const std::string name = Normalise(Unquoted(cell), &unit);
  for (const Alias& a : kGpuUtilAliases) {
    if (name == a.name) return a.field;
  }
  return std::nullopt;
}

std::optional<double> UnitFactor(Quantity q, std::string_view unit) {
  struct Row {
    Quantity q;
    const char* unit;
    double factor;
  };
  static constexpr Row kRows[] = {
      {Quantity::kPercent, "%", 1},
      {Quantity::kPercent, "percent", 1},
      {Quantity::kPercent, "ratio", 100},
      {Quantity::kMemory, "mib", 1},
      {Quantity::kMemory, "mb", 1},
      {Quantity::kMemory, "m", 1},
      {Quantity::kMemory, "gib", 1024},
      {Quantity::kMemory, "gb", 1024},
      {Quantity::kMemory, "g", 1024},
      {Quantity::kMemory, "kib", 1 / 1024.},
      {Quantity::kMemory, "kb", 1 / 1024.},
      {Quantity::kMemory, "b", 1 / 1048576.},
      {Quantity::kMemory, "bytes", 1 / 1048576.},
      {Quantity::kPower, "w", 1},
      {Quantity::kPower, "watts", 1},
      {Quantity::kPower, "kw", 1000},
      {Quantity::kClock, "mhz", 1},
      {Quantity::kClock, "ghz", 1000},
      {Quantity::kTemperature, "c", 1},
      {Quantity::kTemperature, "celsius", 1},
      {Quantity::kTemperature, "°c", 1},
      {Quantity::kEnergy, "j", 1},
      {Quantity::kEnergy, "mj", 0.001},
  };
  if (q == Quantity::kPower && (unit == "mW" || unit == "mw")) return 0.001;
  if (q == Quantity::kPlain) return 1;
  const std::string lower = ToLower(unit);
  for (const Row& r : kRows) {
    if (r.q == q && lower == r.unit) return r.factor;
  }
  return std::nullopt;
}

}  // namespace sawbill::ingest
