// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gpu/nvml_abi.h"
#include "simulator/nvml/script.h"
#include "simulator/nvml/toml_table.h"

namespace sawbill::nvmlsim {
namespace {

void ReadWaves(TomlTable& in, std::array<Wave, kFields>* waves, std::array<bool, kFields>* given) {
  for (size_t i = 0; i < kFields; ++i) {
    if (in.Read(FieldKey(static_cast<Field>(i)), &(*waves)[i])) (*given)[i] = true;
  }
}

Status ReadProcess(TomlTable& in, int instance, std::vector<ProcessScript>* out) {
  ProcessScript p;
  std::string type = "C";
  int count = 1;
  in.Read("pid", &p.pid);
  in.Read("type", &type);
  in.Read("name", &p.name);
  in.Read("count", &count);
  in.Read("from_s", &p.from_s);
  in.Read("until_s", &p.until_s);
  in.Read("mem_mib", &p.mem_mib);
  in.Read("sm_util", &p.sm_util);
  in.Read("mem_util", &p.mem_util);
  in.Read("enc_util", &p.enc_util);
  in.Read("dec_util", &p.dec_util);
  if (p.pid.empty()) return in.Fail("pid", "is missing: a number, \"self\", \"env:NAME\" or \"file:PATH\"");
  if (type.size() != 1 || std::string_view("CGM").find(type[0]) == std::string_view::npos) {
    return in.Fail("type", "is C (compute), G (graphics) or M (compute under MPS)");
  }
  if (count < 1 || count > 4096) return in.Fail("count", "is 1 to 4096");
  p.type = type[0];
  p.instance = instance;
  for (int k = 0; k < count; ++k) {
    p.offset = k;
    out->push_back(p);
  }
  return Status::Ok();
}

/// "3g.40gb": slices and the memory that a H100 of 80 GB gave such an instance.
bool ReadProfile(const CardModel& model, InstanceFacts* facts) {
  const size_t g = facts->profile.find("g."), gb = facts->profile.find("gb");
  if (g == std::string::npos || gb == std::string::npos || gb < g) return false;
  const auto slices = ParseInt(std::string_view(facts->profile).substr(0, g));
  const auto gib = ParseDouble(std::string_view(facts->profile).substr(g + 2, gb - g - 2));
  if (!slices || !gib || *slices < 1 || *slices > 8) return false;
  facts->slices = static_cast<int>(*slices);
  constexpr int kSmOf132[] = {16, 32, 60, 64, 80, 96, 132, 132};  // of a H100, as recorded for 1g, 2g and 3g
  facts->sm_count = model.sm_count * kSmOf132[facts->slices - 1] / 132;
  facts->memory_mib = *gib * 1011.2;  // 3g.40gb: 40448, as recorded on a H100
  return true;
}

Status ReadInstance(TomlTable& in, CardFacts* facts, CardScript* card) {
  InstanceFacts instance;
  UnitScript unit;
  const int number = static_cast<int>(facts->instances.size());
  instance.slot = number;
  instance.gpu_instance = number + 1;
  in.Read("index", &instance.slot);
  in.Read("gi", &instance.gpu_instance);
  in.Read("ci", &instance.compute_instance);
  in.Read("profile", &instance.profile);
  if (!ReadProfile(*facts->model, &instance)) return in.Fail("profile", "is a name such as \"3g.40gb\"");
  in.Read("memory_mib", &instance.memory_mib);
  in.Read("sm_count", &instance.sm_count);
  instance.uuid = MakeUuid("MIG-", static_cast<unsigned long long>(facts->minor_number) * 64 + 1000 +
                                       static_cast<unsigned long long>(instance.gpu_instance));
  in.Read("uuid", &instance.uuid);
  if (instance.slot < 0 || instance.slot > 6) return in.Fail("index", "is 0 to 6");
  std::array<bool, kFields> given{};
  ReadWaves(in, &unit.waves, &given);
  DeriveWaves(*facts, unit.waves[static_cast<size_t>(Field::kSmUtil)], given, &unit.waves);
  unit.has_mem_used = given[static_cast<size_t>(Field::kMemUsed)];
  facts->instances.push_back(instance);
  card->instances.push_back(std::move(unit));
  in.Each("process", [&](TomlTable& t) { return ReadProcess(t, number, &card->processes); });
  return Status::Ok();
}

Status ReadFacts(TomlTable& in, int index, CardFacts* facts) {
  std::string model = "H100";
  in.Read("model", &model);
  const CardModel* row = FindModel(model);
  if (row == nullptr) {
    std::vector<std::string> keys;
    for (const CardModel& m : Catalogue()) keys.emplace_back(m.key);
    return in.Fail("model", "names no card of the catalogue: " + Join(keys, ", "));
  }
  FillIdentity(*row, index, facts);
  in.Read("name", &facts->name);
  in.Read("uuid", &facts->uuid);
  in.Read("serial", &facts->serial);
  in.Read("vbios", &facts->vbios);
  in.Read("pci_domain", &facts->domain);
  in.Read("pci_bus", &facts->bus);
  in.Read("pci_device", &facts->device);
  in.Read("minor_number", &facts->minor_number);
  in.Read("numa_node", &facts->numa_node);
  in.Read("memory_mib", &facts->memory_mib);
  in.Read("reserved_mib", &facts->reserved_mib);
  in.Read("util_window_s", &facts->util_window_s);
  in.Read("power_window_s", &facts->power_window_s);
  in.Read("pcie_block_ms", &facts->pcie_block_ms);
  in.Read("default_limit_w", &facts->default_limit_w);
  in.Read("energy_base_j", &facts->energy_base_j);
  in.Read("counters_reset_at_s", &facts->counters_reset_at_s);
  in.Read("samples", &facts->samples);
  in.Read("persistence", &facts->persistence);
  in.Read("ecc", &facts->ecc);
  in.Read("gpm", &facts->gpm);
  in.Read("unified_memory", &facts->unified_memory);
  in.Read("pcie_bytes_wrap_32", &facts->pcie_bytes_wrap_32);
  in.Read("unsupported", &facts->unsupported);
  if (facts->util_window_s <= 0 || facts->power_window_s <= 0) return in.Fail("util_window_s", "is more than 0");
  if (facts->samples < 1 || facts->samples > 10000) return in.Fail("samples", "is 1 to 10000");
  return Status::Ok();
}

Status ReadCard(TomlTable& in, Script* script) {
  CardFacts facts;
  CardScript card;
  SAWBILL_RETURN_IF_ERROR(ReadFacts(in, static_cast<int>(script->facts.size()), &facts));
  std::array<bool, kFields> given{};
  ReadWaves(in, &card.unit.waves, &given);
  DeriveWaves(facts, card.unit.waves[static_cast<size_t>(Field::kSmUtil)], given, &card.unit.waves);
  card.unit.has_mem_used = given[static_cast<size_t>(Field::kMemUsed)];
  in.Read("mig", &facts.mig);
  in.Each("instance", [&](TomlTable& t) { return ReadInstance(t, &facts, &card); });
  if (!facts.instances.empty()) facts.mig = true;
  in.Each("process", [&](TomlTable& t) { return ReadProcess(t, -1, &card.processes); });
  bool garbage = false;
  in.Read("garbage", &garbage);
  int count = 1;
  in.Read("count", &count);
  if (count < 1 || count > 16) return in.Fail("count", "is 1 to 16");
  for (int k = 0; k < count; ++k) {
    const int index = static_cast<int>(script->facts.size());
    if (k > 0) {
      const CardFacts first = facts;
      FillIdentity(*facts.model, index, &facts);
      facts.memory_mib = first.memory_mib;
      facts.reserved_mib = first.reserved_mib;
      facts.util_window_s = first.util_window_s;
      facts.default_limit_w = first.default_limit_w;
      facts.ecc = first.ecc;
      facts.gpm = first.gpm;
      facts.name = first.name;
      for (InstanceFacts& i : facts.instances) {
        i.uuid = MakeUuid("MIG-",
                          static_cast<unsigned long long>(index) * 64 + 1000 + static_cast<unsigned>(i.gpu_instance));
      }
    }
    if (garbage) script->faults.push_back({.kind = FaultKind::kGarbage, .card = index});
    script->facts.push_back(facts);
    script->cards.push_back(card);
  }
  return Status::Ok();
}

struct EventName {
  std::string_view name;
  unsigned long long type;
};
constexpr EventName kEvents[] = {{"xid", nvml::kEventXid},          {"sbe", nvml::kEventSingleBitEcc},
                                 {"dbe", nvml::kEventDoubleBitEcc}, {"pstate", nvml::kEventPstate},
                                 {"clock", nvml::kEventClock},      {"power_source", nvml::kEventPowerSource},
                                 {"mig", nvml::kEventMigConfig}};

Status ReadEvent(TomlTable& in, Script* script) {
  EventNow event;
  std::string kind;
  unsigned data = 0;
  in.Read("at", &event.at_s);
  in.Read("card", &event.card);
  in.Read("kind", &kind);
  in.Read("data", &data);
  in.Read("gi", &event.gpu_instance);
  in.Read("ci", &event.compute_instance);
  const auto* row = std::find_if(std::begin(kEvents), std::end(kEvents), [&](auto& e) { return e.name == kind; });
  if (row == std::end(kEvents)) return in.Fail("kind", "is xid, sbe, dbe, pstate, clock, power_source or mig");
  event.type = row->type;
  event.data = data;
  script->events.push_back(event);
  return Status::Ok();
}

struct KindName {
  std::string_view name;
  FaultKind kind;
  int code;
  std::string_view call;
};
// "handle" is a code on the calls that give a handle out.
constexpr KindName kKinds[] = {{"code", FaultKind::kCode, nvml::kUnknown, "*"},
                               {"lost", FaultKind::kLost, nvml::kGpuIsLost, "*"},
                               {"driver", FaultKind::kDriver, nvml::kDriverNotLoaded, "*"},
                               {"slow", FaultKind::kSlow, 0, "*"},
                               {"hang", FaultKind::kHang, nvml::kTimeout, "*"},
                               {"garbage", FaultKind::kGarbage, 0, "*"},
                               {"missing", FaultKind::kMissing, nvml::kFunctionNotFound, "*"},
                               {"stale_pids", FaultKind::kStalePids, 0, "*"},
                               {"stride32", FaultKind::kStride32, 0, "*"},
                               {"handle", FaultKind::kCode, nvml::kUnknown, "nvmlDeviceGetHandleBy*"}};

Status ReadFault(TomlTable& in, Script* script) {
  Fault fault;
  std::string kind;
  in.Read("kind", &kind);
  const auto* row = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto& k) { return k.name == kind; });
  if (row == std::end(kKinds)) {
    return in.Fail("kind", "is code, lost, driver, slow, hang, garbage, missing, stale_pids, stride32 or handle");
  }
  fault.kind = row->kind;
  fault.code = row->code;
  fault.call = row->call;
  std::string values = "untouched";
  in.Read("at", &fault.at_s);
  in.Read("until", &fault.until_s);
  in.Read("card", &fault.card);
  in.Read("call", &fault.call);
  in.Read("code", &fault.code);
  in.Read("ms", &fault.slow_ms);
  in.Read("values", &values);
  in.Read("return_index", &fault.return_index);
  in.Read("counted", &fault.counted);
  if (values != "untouched" && values != "wild") return in.Fail("values", "is \"untouched\" or \"wild\"");
  fault.wild = values == "wild";
  if (fault.kind == FaultKind::kLost && fault.card < 0) return in.Fail("card", "is missing: which one is lost");
  if (fault.kind == FaultKind::kSlow && fault.slow_ms <= 0) return in.Fail("ms", "is missing: how long the call takes");
  script->faults.push_back(fault);
  return Status::Ok();
}

}  // namespace

Result<Script> ParseScript(std::string_view text, const std::string& where) {
  Script script;
  const Status status = ReadToml(text, where, [&](TomlTable& root) {
    root.Read("driver", &script.system.driver);
    script.system.nvml = std::to_string(script.system.cuda / 1000) + "." + script.system.driver;
    root.Read("cuda", &script.system.cuda);
    root.Read("nvml", &script.system.nvml);
    script.has_cards = root.Has("card");
    root.Each("card", [&](TomlTable& t) { return ReadCard(t, &script); });
    root.Each("event", [&](TomlTable& t) { return ReadEvent(t, &script); });
    root.Each("fault", [&](TomlTable& t) { return ReadFault(t, &script); });
    return Status::Ok();
  });
  if (!status.ok()) return status;
  std::stable_sort(script.events.begin(), script.events.end(),
                   [](const EventNow& a, const EventNow& b) { return a.at_s < b.at_s; });
  return script;
}

}  // namespace sawbill::nvmlsim
