// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/wave.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "gpu/nvml_abi.h"

namespace sawbill::nvmlsim {
namespace {

struct ReasonName {
  std::string_view name;
  nvml::ClocksEventReason bit;
};
// The names are those of the day files.
constexpr ReasonName kReasons[] = {
    {"none", nvml::kReasonNone},
    {"gpu_idle", nvml::kReasonGpuIdle},
    {"app_clocks", nvml::kReasonAppClocks},
    {"sw_power_cap", nvml::kReasonSwPowerCap},
    {"hw_slowdown", nvml::kReasonHwSlowdown},
    {"sync_boost", nvml::kReasonSyncBoost},
    {"sw_thermal", nvml::kReasonSwThermal},
    {"hw_thermal", nvml::kReasonHwThermal},
    {"hw_power_brake", nvml::kReasonHwPowerBrake},
    {"display_clocks", nvml::kReasonDisplayClocks},
};

std::optional<double> ParseReasons(std::string_view word) {
  nvml::u64 mask = 0;
  for (const std::string_view part : Split(word, '|')) {
    const auto* row = std::find_if(std::begin(kReasons), std::end(kReasons), [&](auto& r) { return r.name == part; });
    if (row == std::end(kReasons)) return std::nullopt;
    mask |= row->bit;
  }
  return static_cast<double>(mask);
}

std::optional<double> ParseHex(std::string_view digits) {
  if (digits.empty() || digits.size() > 12) return std::nullopt;
  double value = 0;
  for (const char c : ToLower(digits)) {
    const size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + static_cast<double>(digit);
  }
  return value;
}

}  // namespace

std::optional<double> ParseWord(std::string_view word) {
  if (word == "nan") return kMissing;
  if (StartsWith(word, "0x")) return ParseHex(word.substr(2));
  if (const auto number = ParseDouble(word)) return number;
  return ParseReasons(word);
}

Wave::Wave(double value) { pieces_.push_back({0, value, 0, 0}); }

void Wave::Append(double value, double length_s) {
  pieces_.push_back({period_s_, value, period_total_, period_nan_s_});
  period_s_ += length_s;
  (std::isnan(value) ? period_nan_s_ : period_total_) += std::isnan(value) ? length_s : value * length_s;
}

Result<Wave> Wave::Parse(std::string_view text) {
  Wave wave;
  wave.pieces_.clear();
  bool held = false;
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (held) return Status::Invalid("only the last word of a wave may stand without its seconds");
    // The seconds stand behind the last x: "0x30" is 0 for 30 s, "0x40x10" the mask 0x40 for 10 s.
    const size_t x = word.rfind('x');
    const bool has_time = x != std::string_view::npos && x > 0;
    const auto value = ParseWord(has_time ? word.substr(0, x) : word);
    const auto length = has_time ? ParseDouble(word.substr(x + 1)) : std::optional<double>(0);
    if (!value || !length || (has_time && *length <= 0)) {
      return Status::Invalid("'" + std::string(word) + "' is no VALUExSECONDS, such as 95x58");
    }
    wave.Append(*value, *length);
    held = !has_time;
  }
  if (wave.pieces_.empty()) return Status::Invalid("an empty wave; write a number, or words such as 95x58");
  if (held) wave.period_s_ = 0;
  return wave;
}

double Wave::Whole(double t_s, double* within_s) const {
  const double t = std::max(t_s, 0.0);
  if (period_s_ <= 0) {
    *within_s = t;
    return 0;
  }
  const double periods = std::floor(t / period_s_);
  *within_s = std::clamp(t - periods * period_s_, 0.0, period_s_);
  return periods;
}

size_t Wave::PieceAt(double within_s) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), within_s,
                                      [](double t, const Piece& piece) { return t < piece.from_s; });
  return static_cast<size_t>(std::max<ptrdiff_t>(after - pieces_.begin() - 1, 0));
}

double Wave::At(double t_s) const {
  double within = 0;
  Whole(t_s, &within);
  return pieces_[PieceAt(within)].value;
}

double Wave::Total(double t_s) const {
  double within = 0;
  const double periods = Whole(t_s, &within);
  const Piece& piece = pieces_[PieceAt(within)];
  const double rest = std::isnan(piece.value) ? 0 : piece.value * (within - piece.from_s);
  return periods * period_total_ + piece.total + rest;
}

double Wave::NanSeconds(double t_s) const {
  double within = 0;
  const double periods = Whole(t_s, &within);
  const Piece& piece = pieces_[PieceAt(within)];
  return periods * period_nan_s_ + piece.nan_s + (std::isnan(piece.value) ? within - piece.from_s : 0);
}

Wave Wave::Map(const std::function<double(double)>& change) const {
  Wave out;
  out.pieces_.clear();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const bool last = i + 1 == pieces_.size();
    const double end_s = last ? std::max(period_s_, pieces_[i].from_s) : pieces_[i + 1].from_s;
    out.Append(change(pieces_[i].value), end_s - pieces_[i].from_s);
  }
  if (period_s_ <= 0) out.period_s_ = 0;
  return out;
}

}  // namespace sawbill::nvmlsim
