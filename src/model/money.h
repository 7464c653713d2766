// SPDX-License-Identifier: Apache-2.0
// Amounts in integer micro-units of one currency: sums are exact, and rounding happens once, half to even, at the end.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace sawbill::model {

struct Micro {
  int64_t micro = 0;
  double units() const { return static_cast<double>(micro) / 1e6; }
  Micro& operator+=(Micro o) {
    micro += o.micro;
    return *this;
  }
  friend Micro operator+(Micro a, Micro b) { return {a.micro + b.micro}; }
  friend Micro operator-(Micro a, Micro b) { return {a.micro - b.micro}; }
  friend auto operator<=>(Micro, Micro) = default;
};
/// Half-to-even. REQUIRES: |units| below 9e12.
inline Micro MicroFromUnits(double units) { return {static_cast<int64_t>(std::nearbyint(units * 1e6))}; }

}  // namespace sawbill::model
