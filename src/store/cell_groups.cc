// SPDX-License-Identifier: Apache-2.0
#include "store/cell_groups.h"

#include <algorithm>

#include "base/status.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sawbill::store {

void CellGroups::AddTo(Group* group, const CellColumn& column, uint64_t bit) {
  const size_t lane = column.index - group->index;
  const FixedFormat& f = column.format;
  const bool point = f.point_shift != 64;
  group->dot_mask[lane] = point ? uint64_t{0xFF} << f.point_shift : 0;
  group->dot[lane] = point ? uint64_t{'.'} << f.point_shift : 0;
  group->below[lane] = point ? f.below : 0;
  group->above[lane] = point ? f.above : ~uint64_t{0};
  group->fill[lane] = point ? 0x30 : 0;
  group->scale[lane] = f.scale;
  group->min[lane] = column.min;
  group->max[lane] = column.max;
  group->metric[lane] = column.metric;
  group->bit[lane] = bit;
  group->used |= 1U << lane;
  group->kept |= (column.kept ? 1U : 0U) << lane;
}

void CellGroups::Set(const std::vector<CellColumn>& columns, size_t cells) {
  SAWBILL_CHECK(columns.size() <= 64);
  groups_.clear();
  all_ = columns.empty() ? 0 : ~uint64_t{0} >> (64 - columns.size());
  in_no_group_ = cells < kLanes ? all_ : 0;
  for (size_t i = 0; i < columns.size() && cells >= kLanes; ++i) {
    const CellColumn& c = columns[i];
    if (groups_.empty() || c.index >= groups_.back().index + kLanes) {
      groups_.emplace_back().index = std::min(c.index, static_cast<uint32_t>(cells - kLanes));
    }
    AddTo(&groups_.back(), c, uint64_t{1} << i);
  }
}

#if defined(__x86_64__)
#define SAWBILL_AVX2 __attribute__((target("avx2")))

namespace {
SAWBILL_AVX2 inline __m256i Load(const std::array<uint64_t, 4>& lanes) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes.data()));
}

SAWBILL_AVX2 inline __m128i FourEnds(const uint32_t* ends) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(ends));
}
}  // namespace

SAWBILL_AVX2 uint64_t CellGroups::ReadAvx2(const Row& row) const {
  const __m256i ones = _mm256_set1_epi64x(-1), zeros = _mm256_set1_epi8('0'), nines = _mm256_set1_epi8(9);
  const __m256i tens = _mm256_set1_epi16(1 << 8 | 10), hundreds = _mm256_set1_epi32(1 << 16 | 100);
  const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  uint64_t left = in_no_group_;
  for (const Group& g : groups_) {
    const uint32_t* const ends = row.ends + g.index;
    const auto text = [&](size_t k) { return static_cast<int64_t>(Load8(row.base + ends[k] - 8)); };
    __m256i v = _mm256_set_epi64x(text(3), text(2), text(1), text(0));
    const __m128i less_one = _mm_sub_epi32(_mm_sub_epi32(FourEnds(ends), FourEnds(ends - 1)), _mm_set1_epi32(2));
    const __m128i fits = _mm_cmpeq_epi32(_mm_min_epu32(less_one, _mm_set1_epi32(7)), less_one);
    // What stands before the cell becomes '0'.
    const __m256i others =
        _mm256_sub_epi64(_mm256_set1_epi64x(56), _mm256_slli_epi64(_mm256_cvtepu32_epi64(less_one), 3));
    const __m256i keep = _mm256_sllv_epi64(ones, others);
    v = _mm256_or_si256(_mm256_and_si256(v, keep), _mm256_andnot_si256(keep, zeros));
    const __m256i dots = _mm256_cmpeq_epi64(_mm256_and_si256(v, Load(g.dot_mask)), Load(g.dot));
    // What stands before the point moves up over it.
    const __m256i moved = _mm256_slli_epi64(_mm256_and_si256(v, Load(g.below)), 8);
    v = _mm256_or_si256(_mm256_or_si256(moved, Load(g.fill)), _mm256_and_si256(v, Load(g.above)));
    v = _mm256_xor_si256(v, zeros);
    const __m256i digits = _mm256_cmpeq_epi8(_mm256_max_epu8(v, nines), nines);
    const __m256i sound = _mm256_and_si256(dots, _mm256_cmpeq_epi64(digits, ones));
    // Pairs of digits, fours, eights.
    v = _mm256_madd_epi16(_mm256_maddubs_epi16(v, tens), hundreds);
    v = _mm256_add_epi64(_mm256_mul_epu32(v, _mm256_set1_epi64x(10000)), _mm256_srli_epi64(v, 32));
    const __m128i mantissa = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, even));
    const __m128 value = _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtepi32_pd(mantissa), _mm256_load_pd(g.scale.data())));
    const __m128 in_range =
        _mm_and_ps(_mm_cmpge_ps(value, _mm_load_ps(g.min.data())), _mm_cmple_ps(value, _mm_load_ps(g.max.data())));
    unsigned good = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(sound))) &
                    static_cast<unsigned>(_mm_movemask_ps(_mm_and_ps(in_range, _mm_castsi128_ps(fits)))) & g.used;
    alignas(16) float values[kLanes];
    _mm_store_ps(values, value);
#pragma GCC unroll 4
    for (size_t k = 0; k < kLanes; ++k) {
      if ((good >> k & 1U) == 0) {
        left |= g.bit[k];
      } else if ((g.kept >> k & 1U) == 0) {
        continue;
      } else if (float* const column = row.columns[g.metric[k]]; column != nullptr) {
        column[row.row] = values[k];
      } else {
        left |= g.bit[k];
      }
    }
  }
  return left;
}

uint64_t CellGroups::Read(const Row& row) const {
  static const bool avx2 = kFastNumbers && __builtin_cpu_supports("avx2");
  return avx2 ? ReadAvx2(row) : all_;
}

#else

uint64_t CellGroups::Read(const Row&) const { return all_; }

#endif

}  // namespace sawbill::store
