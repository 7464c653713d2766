// SPDX-License-Identifier: Apache-2.0
// Room for columns of millions of rows. The first touch of a fresh 4 KiB page costs more than parsing the line that
// fills it (on virtual machines many times more), so large columns ask the kernel for huge pages.
#pragma once

#include <cstddef>
#include <vector>

namespace sawbill::ingest {

/// A hint only: what the kernel does not grant changes nothing but the speed.
void AdviseHugePages(void* data, size_t bytes);

/// Grows `v` to `n` elements, new ones equal to `value`.
template <typename T>
void GrowTo(std::vector<T>* v, size_t n, T value) {
  if (n > v->capacity()) {
    v->reserve(n);
    AdviseHugePages(v->data() + v->size(), (n - v->size()) * sizeof(T));
  }
  v->resize(n, value);
}

}  // namespace sawbill::ingest
