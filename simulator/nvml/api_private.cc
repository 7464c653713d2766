// SPDX-License-Identifier: Apache-2.0
// nvidia-smi refuses to run ("Mismatch in versions") without a private table of functions. What stands in which slot
// was found by running nvidia-smi 535 on a table of stubs; other drivers differ. Slots that we do not know say "not
// supported", which nvidia-smi shows as N/A. Nobody but nvidia-smi may rely on this.
#include <algorithm>
#include <array>
#include <cstring>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::OnPlace;
using nvmlsim::View;

constexpr size_t kSlots = 245;       // of 535; the first word is the size of the table
constexpr size_t kNameBytes = 4096;  // of an entry: pid, memory, instances, name
constexpr size_t kEntryBytes = 32 + kNameBytes;
constexpr size_t kEntries = 250;  // that nvidia-smi has room for

Return NotThere() { return kNotSupported; }

void PutEntry(const View& v, const nvmlsim::ProcessNow& p, char* entry) {
  std::memset(entry, 0, kEntryBytes);
  const u64 bytes = IsMissing(p.mem_mib) ? kMemoryUnknown : static_cast<u64>(p.mem_mib * 1048576 + 0.5);
  u32 ids[2] = {kNoInstance, kNoInstance};
  if (const auto* mig = v.instance()) {
    ids[0] = static_cast<u32>(mig->gpu_instance);
    ids[1] = static_cast<u32>(mig->compute_instance);
  }
  std::memcpy(entry, &p.pid, sizeof(p.pid));
  std::memcpy(entry + 8, &bytes, sizeof(bytes));
  std::memcpy(entry + 16, ids, sizeof(ids));
  std::memcpy(entry + 32, p.name.data(), std::min(p.name.size(), kNameBytes - 1));
}

template <char kType>
Return List(Device device, u32* count, char* entries) {
  return OnPlace("nvmlInternalProcesses", device, [&](const View& v) {
    if (count == nullptr || entries == nullptr) return kInvalidArgument;
    size_t n = 0;
    for (const auto& p : v.source().Processes(v.place().card, v.t_s(), v.t_s())) {
      if (p.type != kType || p.instance != v.place().instance || n == std::min<size_t>(*count, kEntries)) continue;
      PutEntry(v, p, entries + n++ * kEntryBytes);
    }
    *count = static_cast<u32>(n);
    return kSuccess;
  });
}

Return EnforcedLimit(Device device, u32* milliwatts) { return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts); }

template <typename Function>
const void* Slot(Function* function) {
  return reinterpret_cast<const void*>(function);
}

std::array<const void*, kSlots> MakeTable() {
  std::array<const void*, kSlots> table;
  table.fill(Slot(NotThere));
  table[0] = reinterpret_cast<const void*>(sizeof(table));
  table[108] = Slot(EnforcedLimit);
  table[213] = Slot(List<'C'>);
  table[214] = Slot(List<'M'>);
  table[215] = Slot(List<'G'>);
  return table;
}

}  // namespace

extern "C" Return nvmlInternalGetExportTable(const void** table, const void*) {
  static const std::array<const void*, kSlots> kTable = MakeTable();
  if (table == nullptr) return kInvalidArgument;
  *table = kTable.data();
  return kSuccess;
}

}  // namespace sawbill::nvml
