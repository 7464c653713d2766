// SPDX-License-Identifier: Apache-2.0
// exp, log and pow from operations that IEEE 754 defines to the last bit. The C library's differ in that bit between
// versions and even between processors (fused multiply-add), and a simulation lets such a bit grow. Accurate to a few
// ulp.
#pragma once

#include <cmath>

namespace sawbill::simulator {

inline constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

inline double Exp(double x) {
  if (x < -700) return 0;
  const double k = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

/// x > 0
inline double Log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = sum * s2 + 1.0 / n;
  return exponent * kLn2High + (2 * s * sum + exponent * kLn2Low);
}

/// x >= 0
inline double Pow(double x, double y) { return x <= 0 ? 0 : Exp(y * Log(x)); }

}  // namespace sawbill::simulator
