// SPDX-License-Identifier: Apache-2.0
// Values of a script at any time, and what a card's values are by default: those of a healthy card of its model whose
// power, clocks and temperature follow its utilisation.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "gpu/nvml_abi.h"
#include "simulator/nvml/script.h"

namespace sawbill::nvmlsim {
namespace {

constexpr const char* kFieldKeys[] = {
#define FIELD(id, key, help) key,
#include "simulator/nvml/fields.inc"
#undef FIELD
};

/// The pid that `spec` names now, or 0: a file that is not there yet is a process that is not there yet.
unsigned ResolvePid(const ProcessScript& process) {
  std::string text = process.pid;
  if (text == "self") return static_cast<unsigned>(::getpid());
  if (StartsWith(text, "env:")) {
    const char* value = std::getenv(text.c_str() + 4);
    text = value != nullptr ? value : "";
  } else if (StartsWith(text, "file:")) {
    std::ifstream in(text.substr(5));
    std::getline(in, text);
  }
  const auto number = ParseInt(text);
  return number && *number > 0 && *number < 0x7fffffff ? static_cast<unsigned>(*number + process.offset) : 0;
}

double MeanOf(const Wave& wave, double from_s, double to_s) {
  const double from = std::max(from_s, 0.0);
  if (to_s - from < 1e-9) return wave.At(to_s);
  if (wave.NanSeconds(to_s) - wave.NanSeconds(from) > 1e-9) return kMissing;
  return (wave.Total(to_s) - wave.Total(from)) / (to_s - from);
}

class ScriptSource : public Source {
 public:
  explicit ScriptSource(std::shared_ptr<const Script> script) : script_(std::move(script)) {}
  const SystemFacts& system() const override { return script_->system; }
  const std::vector<CardFacts>& cards() const override { return script_->facts; }
  std::vector<EventNow> Events() const override { return script_->events; }

  double Value(Place place, Field field, double t_s) const override {
    if (field == Field::kMemUsed && !Unit(place).has_mem_used) return ProcessMemory(place, t_s);
    return WaveOf(place, field).At(t_s);
  }
  double Total(Place place, Field field, double t_s) const override { return WaveOf(place, field).Total(t_s); }
  double NanSeconds(Place place, Field field, double t_s) const override {
    return WaveOf(place, field).NanSeconds(t_s);
  }
  double Mean(Place place, Field field, double from_s, double to_s) const override {
    return MeanOf(WaveOf(place, field), from_s, to_s);
  }

  double ReasonSeconds(Place place, unsigned long long bits, double t_s) const override {
    const auto on = [&](double mask) {
      return mask >= 0 && (static_cast<unsigned long long>(mask) & bits) != 0 ? 1.0 : 0.0;
    };
    return WaveOf(place, Field::kThrottle).Map(on).Total(t_s);
  }

  std::vector<ProcessNow> Processes(int card, double from_s, double to_s) const override {
    std::vector<ProcessNow> out;
    for (const ProcessScript& p : script_->cards[static_cast<size_t>(card)].processes) {
      if (to_s < p.from_s || to_s >= p.until_s) continue;
      const unsigned pid = ResolvePid(p);
      if (pid == 0) continue;
      ProcessNow now;
      now.pid = pid;
      now.type = p.type;
      now.instance = p.instance;
      now.name = p.name;
      now.mem_mib = p.mem_mib.At(to_s);
      now.sm_util = MeanOf(p.sm_util, from_s, to_s);
      now.mem_util = MeanOf(p.mem_util, from_s, to_s);
      now.enc_util = MeanOf(p.enc_util, from_s, to_s);
      now.dec_util = MeanOf(p.dec_util, from_s, to_s);
      out.push_back(std::move(now));
    }
    return out;
  }

 private:
  const UnitScript& Unit(Place place) const {
    const CardScript& card = script_->cards[static_cast<size_t>(place.card)];
    return place.instance < 0 ? card.unit : card.instances[static_cast<size_t>(place.instance)];
  }
  const Wave& WaveOf(Place place, Field field) const { return Unit(place).waves[static_cast<size_t>(field)]; }

  double ProcessMemory(Place place, double t_s) const {
    double sum = 0;
    for (const ProcessNow& p : Processes(place.card, t_s, t_s)) {
      if ((place.instance < 0 || p.instance == place.instance) && IsPresent(p.mem_mib)) sum += p.mem_mib;
    }
    return sum;
  }

  std::shared_ptr<const Script> script_;
};

/// splitmix64: ids that look like ids and are always the same.
unsigned long long Mix(unsigned long long x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

const char* FieldKey(Field field) { return kFieldKeys[static_cast<size_t>(field)]; }

std::unique_ptr<Source> MakeScriptSource(std::shared_ptr<const Script> script) {
  return std::make_unique<ScriptSource>(std::move(script));
}

std::string MakeUuid(std::string_view prefix, unsigned long long seed) {
  const unsigned long long a = Mix(seed), b = Mix(a);
  return fmt::format("{}{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", prefix, a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48,
                     b & 0xffffffffffffull);
}

void FillIdentity(const CardModel& model, int index, CardFacts* facts) {
  facts->model = &model;
  facts->name = model.name;
  facts->uuid = MakeUuid("GPU-", static_cast<unsigned long long>(index) + 1);
  facts->serial = model.ecc ? fmt::format("16{:011d}", Mix(static_cast<unsigned>(index) + 77u) % 100000000000ull) : "";
  facts->vbios = fmt::format("96.00.{:02X}.00.01", 0x74 + index);
  facts->part_number = model.ecc ? fmt::format("900-2G{}-0000-000", model.pci_device) : "";
  facts->domain = static_cast<unsigned>(index) / 16;
  facts->bus = 7u + 15u * (static_cast<unsigned>(index) % 16);
  facts->minor_number = index;
  facts->memory_mib = model.memory_mib;
  facts->reserved_mib = model.reserved_mib;
  facts->util_window_s = model.util_window_s;
  facts->default_limit_w = model.limit_w;
  facts->ecc = model.ecc;
  facts->gpm = model.gpm;
}

void DeriveWaves(const CardFacts& facts, const Wave& sm_util, const std::array<bool, kFields>& given,
                 std::array<Wave, kFields>* waves) {
  const CardModel& model = *facts.model;
  const auto derive = [&](Field field, const std::function<double(double)>& of_util) {
    const auto i = static_cast<size_t>(field);
    if (!given[i])
      (*waves)[i] = sm_util.Map([&](double util) { return std::isnan(util) ? util : of_util(util / 100); });
  };
  const auto set = [&](Field field, double value) {
    if (!given[static_cast<size_t>(field)]) (*waves)[static_cast<size_t>(field)] = Wave(value);
  };
  const bool big_memory = model.mem_idle_mhz == model.mem_max_mhz;  // HBM keeps its clock
  derive(Field::kMemUtil, [](double u) { return std::round(u * 50); });
  derive(Field::kPower, [&](double u) { return model.idle_w + (0.85 * model.limit_w - model.idle_w) * u; });
  derive(Field::kTemp, [](double u) { return std::round(32 + 38 * u); });
  derive(Field::kMemTemp, [](double u) { return std::round(38 + 42 * u); });
  derive(Field::kFan, [](double u) { return std::round(30 + 40 * u); });
  derive(Field::kSmClock, [&](double u) { return u > 0 ? model.sm_max_mhz : model.sm_idle_mhz; });
  derive(Field::kVideoClock, [&](double u) { return u > 0 ? std::round(model.sm_max_mhz * 0.85) : model.sm_idle_mhz; });
  derive(Field::kMemClock, [&](double u) { return u > 0 ? model.mem_max_mhz : model.mem_idle_mhz; });
  derive(Field::kThrottle, [](double u) { return u > 0 ? 0.0 : static_cast<double>(nvml::kReasonGpuIdle); });
  derive(Field::kPstate, [&](double u) { return u > 0 || big_memory ? 0.0 : 8.0; });
  derive(Field::kPcieGen, [&](double u) { return u > 0 || big_memory ? model.pcie_gen : 1; });
  set(Field::kPcieWidth, facts.unified_memory ? 1 : 16);
  derive(Field::kPcieTx, [](double u) { return 60 * u; });
  derive(Field::kPcieRx, [](double u) { return 400 * u; });
  set(Field::kPowerLimit, facts.default_limit_w);
  derive(Field::kGrActive, [](double u) { return u; });
  derive(Field::kSmActive, [](double u) { return 0.85 * u; });
  derive(Field::kSmOccupancy, [](double u) { return 0.35 * u; });
  derive(Field::kIntActive, [](double u) { return 0.10 * u; });
  derive(Field::kTensorActive, [](double u) { return 0.40 * u; });
  derive(Field::kDramActive, [](double u) { return 0.45 * u; });
  derive(Field::kFp32Active, [](double u) { return 0.08 * u; });
  derive(Field::kFp16Active, [](double u) { return 0.05 * u; });
}

}  // namespace sawbill::nvmlsim
