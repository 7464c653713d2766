// SPDX-License-Identifier: Apache-2.0
// A value over time, as text: "0x30 95x58 8x2" is 30 s at 0, 58 s at 95, 2 s at 8, and again from the start. A last
// word without a time holds for ever: "0x30 95". Both are functions of time with an exact integral, so that means,
// counters and ring buffers need no clock that ticks.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sawbill::nvmlsim {

/// A word of a wave as a number, or nothing: "95", "0x40", "nan", names of clock event reasons
/// ("sw_thermal|hw_slowdown").
std::optional<double> ParseWord(std::string_view word);

class Wave {
 public:
  /// Constant.
  explicit Wave(double value = 0);
  static Result<Wave> Parse(std::string_view text);

  /// Before 0 as at 0. NaN where the script says so.
  double At(double t_s) const;
  /// Integral from 0 to t_s, in value times seconds; NaN counts as nothing.
  double Total(double t_s) const;
  /// Seconds of NaN from 0 to t_s.
  double NanSeconds(double t_s) const;
  /// The same times with other values.
  Wave Map(const std::function<double(double)>& change) const;

 private:
  struct Piece {
    double from_s, value, total, nan_s;  // total, nan_s: up to from_s
  };
  void Append(double value, double length_s);
  size_t PieceAt(double within_s) const;
  /// t_s as whole periods and the rest.
  double Whole(double t_s, double* within_s) const;

  std::vector<Piece> pieces_;
  double period_s_ = 0;  // 0: the last piece holds for ever
  double period_total_ = 0, period_nan_s_ = 0;
};

}  // namespace sawbill::nvmlsim
