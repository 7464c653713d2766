// SPDX-License-Identifier: Apache-2.0
// Room for columns of millions of rows. The first touch of a fresh 4 KiB page costs more than parsing the line that
// fills it (on virtual machines many times more), so large columns ask the kernel for huge pages.
#pragma once

#include <cstddef>
#include <vector>

namespace sawbill::ingest {

/// A hint only: what the kernel does not grant changes nothing but the speed.
void AdviseHugePages(void* data, size_t bytes);

/// Reserves room for `n` elements. Nothing is touched: fill it in steps that stay in the cache.
template <typename T>
void MakeRoom(std::vector<T>* v, size_t n) {
  if (n <= v->capacity()) return;
  v->reserve(n);
  AdviseHugePages(v->data() + v->size(), (n - v->size()) * sizeof(T));
}

/// Makes room to grow by one when there is none: doubled, as a vector does by itself, and in huge pages once it is
/// large.
template <typename T>
void RoomForOneMore(std::vector<T>* v) {
  constexpr size_t kLarge = size_t{1} << 18;
  if (v->size() == v->capacity() && v->size() >= kLarge) MakeRoom(v, 2 * v->size());
}

}  // namespace sawbill::ingest
