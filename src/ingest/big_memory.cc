// SPDX-License-Identifier: Apache-2.0
#include "ingest/big_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace sawbill::ingest {

void AdviseHugePages(void* data, size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  if (bytes < 2 * kHugePage) return;
  const auto from = (reinterpret_cast<uintptr_t>(data) + kHugePage - 1) / kHugePage * kHugePage;
  const auto to = (reinterpret_cast<uintptr_t>(data) + bytes) / kHugePage * kHugePage;
  if (to > from) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace sawbill::ingest
