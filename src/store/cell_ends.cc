// SPDX-License-Identifier: Apache-2.0
#include "store/cell_ends.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sawbill::store {
namespace {

struct Ends {
  uint32_t* next;
  uint32_t* next_line;
};

void OneByOne(std::string_view text, size_t from, Ends* out) {
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\n') *out->next_line++ = static_cast<uint32_t>(i);
    if (text[i] == '\n' || text[i] == ',') *out->next++ = static_cast<uint32_t>(i);
  }
}

#if defined(__x86_64__)
#define SAWBILL_AVX2 __attribute__((target("avx2,bmi,popcnt")))

/// Eight entries are written whether there are so many or not: a loop over exactly as many would be mispredicted.
SAWBILL_AVX2 inline uint32_t* WriteBits(uint64_t bits, uint32_t base, uint32_t* out) {
  const auto count = static_cast<size_t>(_mm_popcnt_u64(bits));
  for (size_t done = 0; done < count; done += 8) {
    for (size_t k = 0; k < 8; ++k) {
      out[done + k] = base + static_cast<uint32_t>(_tzcnt_u64(bits));
      bits &= bits - 1;
    }
  }
  return out + count;
}

SAWBILL_AVX2 size_t FindEndsAvx2(std::string_view text, uint32_t* ends, uint32_t* line_ends) {
  Ends out{ends, line_ends};
  const __m256i commas = _mm256_set1_epi8(','), newlines = _mm256_set1_epi8('\n');
  size_t i = 0;
  for (; i + 64 <= text.size(); i += 64) {
    uint64_t any = 0, lines = 0;
    for (unsigned k = 0; k < 2; ++k) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + i + 32 * k));
      const __m256i n = _mm256_cmpeq_epi8(v, newlines);
      const __m256i e = _mm256_or_si256(n, _mm256_cmpeq_epi8(v, commas));
      any |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(e))) << (32 * k);
      lines |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(n))) << (32 * k);
    }
    out.next = WriteBits(any, static_cast<uint32_t>(i), out.next);
    while (lines != 0) {
      *out.next_line++ = static_cast<uint32_t>(i) + static_cast<uint32_t>(_tzcnt_u64(lines));
      lines &= lines - 1;
    }
  }
  OneByOne(text, i, &out);
  return static_cast<size_t>(out.next_line - line_ends);
}
#endif

}  // namespace

size_t FindEndsPortable(std::string_view text, uint32_t* ends, uint32_t* line_ends) {
  Ends out{ends, line_ends};
  OneByOne(text, 0, &out);
  return static_cast<size_t>(out.next_line - line_ends);
}

size_t FindEnds(std::string_view text, uint32_t* ends, uint32_t* line_ends) {
#if defined(__x86_64__)
  static const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  if (avx2) return FindEndsAvx2(text, ends, line_ends);
#endif
  return FindEndsPortable(text, ends, line_ends);
}

}  // namespace sawbill::store
