// SPDX-License-Identifier: Apache-2.0
#include "report/sparkline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/rounding.h"

namespace sawbill::report {

std::vector<float> Resample(const std::vector<float>& values, int width, Pool pool) {
  if (values.empty() || width <= 0) return {};
  const size_t n = values.size();
  const auto w = static_cast<size_t>(width);
  std::vector<float> out(w, std::numeric_limits<float>::quiet_NaN());
  for (size_t c = 0; c < w; ++c) {
    const size_t from = c * n / w;
    const size_t to = std::max(from + 1, (c + 1) * n / w);
    double sum = 0;
    size_t count = 0;
    float lowest = std::numeric_limits<float>::infinity();
    for (size_t i = from; i < to; ++i) {
      if (std::isnan(values[i])) continue;
      sum += static_cast<double>(values[i]);
      lowest = std::min(lowest, values[i]);
      ++count;
    }
    if (count > 0) out[c] = pool == Pool::kMin ? lowest : static_cast<float>(sum / static_cast<double>(count));
  }
  return out;
}

std::string Sparkline(const std::vector<float>& values, bool unicode) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kAscii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  std::string out;
  for (const float v : values) {
    if (std::isnan(v)) {
      out += unicode ? "·" : " ";
      continue;
    }
    const auto level = static_cast<size_t>(std::clamp(v / 100.0F * 8.0F, 0.0F, 7.0F));
    out += unicode ? kBlocks[level] : kAscii[level];
  }
  return out;
}

std::string LowMarks(const std::vector<float>& mean, const std::vector<float>& low, bool unicode) {
  std::string out;
  size_t kept = 0;
  for (size_t i = 0; i < mean.size() && i < low.size(); ++i) {
    const bool dipped = low[i] < kLowUtil && mean[i] >= kLowUtil;
    out += !dipped ? " " : unicode ? "▾" : "v";
    if (dipped) kept = out.size();
  }
  out.resize(kept);
  return out;
}

std::vector<int> BarCells(const std::vector<double>& shares, int width) {
  double sum = 0;
  for (const double s : shares) sum += std::isfinite(s) && s > 0 ? s : 0;
  std::vector<double> cells(shares.size(), 0);
  if (sum > 0) {
    for (size_t i = 0; i < shares.size(); ++i) {
      if (std::isfinite(shares[i]) && shares[i] > 0) cells[i] = shares[i] / sum * width;
    }
  }
  std::vector<int> out;
  for (const auto& u : RoundUnits(cells, 0)) out.push_back(static_cast<int>(u.value_or(0)));
  return out;
}

}  // namespace sawbill::report
