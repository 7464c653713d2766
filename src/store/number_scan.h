// SPDX-License-Identifier: Apache-2.0
// Fixed-decimal numbers of at most 8 characters, eight at a time in one register: what nearly all cells of a day file
// are. Whatever else a cell holds is refused here and left to the careful parser. Idea of the digit folding: D. Lemire,
// "Quickly parsing eight digits" (2018).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sawbill::store {

// The byte tricks want the first character in the lowest byte; elsewhere every cell goes to the careful parser.
inline constexpr bool kFastNumbers = std::endian::native == std::endian::little;
inline constexpr double kTenth[8] = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

inline uint64_t Load8(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

inline constexpr uint64_t kZeros8 = 0x3030303030303030;

/// The `length` (1 to 8) characters before `end`, with '0' in front. REQUIRES: end - 8 is readable.
inline uint64_t LoadPadded(const char* end, size_t length) {
  const uint64_t keep = ~uint64_t{0} << (64 - 8 * length);
  return (Load8(end - 8) & keep) | (kZeros8 & ~keep);
}

/// Eight characters, all of them digits, as a number.
inline bool FoldDigits(uint64_t v, uint32_t* out) {
  v ^= kZeros8;
  if ((((v + 0x7676767676767676) | v) & 0x8080808080808080) != 0) return false;
  constexpr uint64_t kMask = 0x000000FF000000FF;
  v = v * 10 + (v >> 8);
  v = ((v & kMask) * 0x000F424000000064 + ((v >> 16) & kMask) * 0x0000271000000001) >> 32;
  *out = static_cast<uint32_t>(v);
  return true;
}

/// Numbers that all have the same number of decimals, as a column's do.
struct FixedFormat {
  unsigned point_shift = 64;  // where the point's byte is; 64 = no point
  uint64_t below = 0;         // the bytes before the point
  uint64_t above = ~uint64_t{0};
  double scale = 1, power = 1;  // a tenth and ten to the number of decimals
  explicit FixedFormat(int decimals = 0) {
    if (decimals < 1 || decimals > 6) return;
    point_shift = static_cast<unsigned>(8 * (7 - decimals));
    below = (uint64_t{1} << point_shift) - 1;
    above = ~((below << 8) | 0xFF);
    scale = kTenth[decimals];
    for (int i = 0; i < decimals; ++i) power *= 10;
  }
};

/// A number in exactly that format; false for any other, sound or not.
inline bool ScanInFormat(const char* end, size_t length, const FixedFormat& format, float* out) {
  uint64_t v = LoadPadded(end, length);
  if (format.point_shift != 64) {
    if (((v >> format.point_shift) & 0xFF) != '.') return false;
    v = ((v & format.below) << 8) | 0x30 | (v & format.above);  // what stands before the point moves up over it
  }
  uint32_t mantissa = 0;
  if (!FoldDigits(v, &mantissa)) return false;
  *out = static_cast<float>(mantissa * format.scale);
  return true;
}

/// A number of 9 to 16 characters in exactly that format, as a division by a power of ten; false for any other.
/// REQUIRES: end - 16 is readable.
inline bool ScanWide(const char* end, size_t length, const FixedFormat& format, double* out) {
  if (length < 9 || length > 16 || format.point_shift == 64) return false;
  const uint64_t v = Load8(end - 8);
  if (((v >> format.point_shift) & 0xFF) != '.') return false;
  uint32_t high = 0, low = 0;
  if (!FoldDigits(((v & format.below) << 8) | 0x30 | (v & format.above), &low)) return false;
  if (!FoldDigits(LoadPadded(end - 8, length - 8), &high)) return false;
  *out = static_cast<double>(uint64_t{high} * 10'000'000 + low) / format.power;
  return true;
}

/// A number with or without decimals: its digits as an integer, and how many of them stood behind the point.
inline bool ScanFixed(const char* end, size_t length, uint32_t* mantissa, unsigned* decimals) {
  constexpr uint64_t kDots = 0x2E2E2E2E2E2E2E2E, kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  uint64_t v = LoadPadded(end, length);
  *decimals = 0;
  const uint64_t x = v ^ kDots;
  const uint64_t dot = (x - kOnes) & ~x & kHighs;
  if (dot != 0) {
    if (length == 1) return false;  // a lone point is no number
    const auto bit = static_cast<unsigned>(std::countr_zero(dot)) & ~7U;
    const uint64_t low = (uint64_t{1} << bit) - 1;
    v = ((v & low) << 8) | 0x30 | (v & ~((low << 8) | 0xFF));
    *decimals = 7 - bit / 8;
  }
  return FoldDigits(v, mantissa);
}

/// Digits with at most one '.', 1 to 18 characters.
inline bool ScanLong(const char* begin, const char* end, double* out) {
  static constexpr double kPowers[19] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                         1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  if (end - begin > 18) return false;
  uint64_t v = 0;
  int digits = 0, decimals = -1;
  for (const char* p = begin; p != end; ++p) {
    if (*p == '.') {
      if (decimals >= 0) return false;
      decimals = 0;
      continue;
    }
    const auto d = static_cast<unsigned>(*p) - '0';
    if (d > 9) return false;
    v = v * 10 + d;
    ++digits;
    if (decimals >= 0) ++decimals;
  }
  if (digits == 0) return false;
  *out = decimals > 0 ? static_cast<double>(v) / kPowers[decimals] : static_cast<double>(v);
  return true;
}

}  // namespace sawbill::store
