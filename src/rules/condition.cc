// SPDX-License-Identifier: Apache-2.0
#include "rules/condition.h"

#include <cmath>
#include <cstring>

#include "base/text.h"
#include "base/time.h"

namespace sawbill::rules {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}
bool IsOpChar(char c) { return std::strchr("<>=!~&|", c) != nullptr && c != '\0'; }

/// A text that is read from left to right, with the place of the last token for messages.
struct Scanner {
  std::string_view text;
  size_t at = 0;
  size_t token = 0;

  void SkipBlanks() {
    while (at < text.size() && IsBlank(text[at])) ++at;
  }
  template <typename Pred>
  std::string_view Take(Pred pred) {
    SkipBlanks();
    token = at;
    while (at < text.size() && pred(text[at])) ++at;
    return text.substr(token, at - token);
  }
  std::string_view TakeRest() {
    SkipBlanks();
    token = at;
    at = text.size();
    return Trim(text.substr(token));
  }
  TextError Error(std::string message) const { return {token, std::move(message)}; }
};

std::optional<Op> FindOp(std::string_view s) {
  if (s == "<") return Op::kLt;
  if (s == "<=") return Op::kLe;
  if (s == ">") return Op::kGt;
  if (s == ">=") return Op::kGe;
  if (s == "==") return Op::kEq;
  if (s == "!=") return Op::kNe;
  return std::nullopt;
}

std::string BadOp(std::string_view s) {
  constexpr std::string_view kAll = "the operators are < <= > >= == !=";
  if (s.empty()) return fmt::format("an operator is missing; {}", kAll);
  std::string_view meant;
  if (s == "=" || s == "===") meant = "==";
  if (s == "=>") meant = ">=";
  if (s == "=<") meant = "<=";
  if (s == "<>" || s == "!" || s == "~=" || s == "=!") meant = "!=";
  if (meant.empty()) return fmt::format("unknown operator '{}'; {}", s, kAll);
  return fmt::format("unknown operator '{}'; did you mean '{}'? ({})", s, meant, kAll);
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates, std::string_view otherwise) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string(otherwise) : fmt::format("did you mean '{}'?", nearest);
}

std::string UnknownFeature(std::string_view word) {
  if (word.empty()) return "a condition begins with the name of a feature, as in \"wait_share >= 8%\"";
  std::vector<std::string> names;
  for (size_t i = 0; i < wave::kFeatures; ++i) names.emplace_back(wave::Info(static_cast<wave::Feature>(i)).name);
  const std::string shown = Sanitize(word);
  if (model::FindGpuMetric(word)) {
    return fmt::format(
        "'{}' is a metric, not a feature; use it in `when` of a threshold or trend rule, or name a feature of "
        "docs/formats/rules.md",
        shown);
  }
  return fmt::format("unknown feature '{}'; {}", shown,
                     DidYouMean(word, names, "docs/formats/rules.md lists the features"));
}

std::string UnknownMetric(std::string_view word) {
  if (word.empty()) return "a test begins with the name of a GPU metric, as in \"sm_util < 30%\"";
  std::vector<std::string> names;
  for (size_t i = 0; i < model::kGpuMetrics; ++i)
    names.emplace_back(model::Info(static_cast<model::GpuMetric>(i)).name);
  const std::string shown = Sanitize(word);
  if (wave::FindFeature(word)) {
    return fmt::format("'{}' is a feature, not a metric; use it in `require`, or name a column of the gpu files",
                       shown);
  }
  return fmt::format("unknown metric '{}'; {}", shown, DidYouMean(word, names, "name a column of the gpu files"));
}

/// Reads `text` as a value in `unit` ("ratio", "percent", "s", or any other, which is a plain number). Returns what is
/// wrong.
std::string ReadValue(std::string_view text, std::string_view name, std::string_view unit, double* out) {
  const std::string shown = Sanitize(text);
  std::string_view suffix;
  const std::optional<double> number = ParseDoublePrefix(text, &suffix);
  if (!number) return fmt::format("'{}' is no number; write one, with a unit where {} has one", shown, name);
  suffix = Trim(suffix);
  const bool percent = suffix == "%";
  if (unit == "s") {
    const std::optional<TimeMs> ms = ParseDuration(text);
    if (*number < 0) return fmt::format("{} is a time and cannot be negative", name);
    if (!ms) return fmt::format("{} is a time, and '{}' is none; write a number with ms, s, m, h or d", name, shown);
    *out = Seconds(*ms);
    return "";
  }
  if (!suffix.empty() && !percent) {
    const char* right = unit == "ratio" || unit == "percent" ? "%" : "no unit";
    return fmt::format("{} does not take the unit '{}'; it takes {}", name, Sanitize(suffix), right);
  }
  if (unit == "ratio") {
    if (!percent && EndsWith(name, "_share") && std::fabs(*number) > 1) {
      return fmt::format("{0} is a share, and {1} would be {1} times the whole; write {1}%", name,
                         FormatShortest(*number));
    }
    *out = percent ? *number / 100 : *number;
    return "";
  }
  if (unit == "percent") {
    if (!percent && *number > 0 && *number < 1) {
      return fmt::format("{0} counts in percent, and {1} would be {1} %; write {2}%, or {1}% if that is meant", name,
                         FormatShortest(*number), FormatShortest(*number * 100));
    }
    *out = *number;
    return "";
  }
  if (percent) return fmt::format("{} is a plain number ({}) and takes no '%'", name, unit);
  *out = *number;
  return "";
}

}  // namespace

TextError ParseCondition(std::string_view text, Condition* out) {
  Scanner in{text};
  const std::string_view word = in.Take(IsWordChar);
  const std::optional<wave::Feature> feature = wave::FindFeature(word);
  if (!feature) return in.Error(UnknownFeature(word));
  const std::string_view op_text = in.Take(IsOpChar);
  const std::optional<Op> op = FindOp(op_text);
  if (!op) return in.Error(BadOp(op_text));
  const std::string_view value = in.TakeRest();
  if (value.empty()) return in.Error("a value is missing after the operator");
  const wave::FeatureInfo& info = wave::Info(*feature);
  double number = 0;
  std::string wrong = ReadValue(value, info.name, info.unit, &number);
  if (!wrong.empty()) return in.Error(std::move(wrong));
  out->feature = *feature;
  out->op = *op;
  out->value = number;
  out->text = std::string(Trim(text));
  return {};
}

TextError ParseMetricTest(std::string_view text, Layer layer, MetricTest* out) {
  Scanner in{text};
  const std::string_view word = in.Take(IsWordChar);
  const std::optional<model::GpuMetric> metric = model::FindGpuMetric(word);
  if (!metric) return in.Error(UnknownMetric(word));
  const model::MetricInfo& info = model::Info(*metric);
  if (info.kind != model::Kind::kGauge)
    return in.Error(fmt::format("'{}' is no level; name another metric", info.name));
  double number = 0;
  std::optional<Op> op;
  if (layer == Layer::kTrend) {
    const std::string_view verb = in.Take(IsWordChar);
    if (verb != "falls" && verb != "rises") {
      return in.Error("a trend says 'falls' or 'rises', as in \"sm_util falls 15%\"");
    }
    op = verb == "falls" ? Op::kLt : Op::kGt;
    std::string_view suffix;
    const std::string_view value = in.TakeRest();
    const std::optional<double> percent = ParseDoublePrefix(value, &suffix);
    const double most = verb == "falls" ? 100 : 1e6;
    if (!percent || Trim(suffix) != "%" || *percent <= 0 || *percent > most) {
      return in.Error(fmt::format("'{}' is no change; write a part of the earlier mean in percent, as in \"falls 15%\"",
                                  Sanitize(value)));
    }
    number = *percent / 100;
  } else {
    const std::string_view op_text = in.Take(IsOpChar);
    op = FindOp(op_text);
    if (!op) return in.Error(BadOp(op_text));
    const std::string_view value = in.TakeRest();
    if (value.empty()) return in.Error("a value is missing after the operator");
    std::string wrong = ReadValue(value, info.name, info.unit, &number);
    if (!wrong.empty()) return in.Error(std::move(wrong));
  }
  out->metric = *metric;
  out->op = *op;
  out->value = number;
  out->text = std::string(Trim(text));
  return {};
}

std::string_view OpText(Op op) {
  switch (op) {
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kGt:
      return ">";
    case Op::kGe:
      return ">=";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
  }
  return "?";
}

bool Compare(double left, Op op, double right) {
  switch (op) {
    case Op::kLt:
      return left < right;
    case Op::kLe:
      return left <= right;
    case Op::kGt:
      return left > right;
    case Op::kGe:
      return left >= right;
    case Op::kEq:
      return left == right;
    case Op::kNe:
      return left != right;
  }
  return false;
}

namespace {
/// At most `decimals`, without zeros at the end: "8", "43.2".
std::string Number(double v, int decimals) {
  std::string s = FormatGrouped(v, decimals);
  if (s.find('.') == std::string::npos || !std::isfinite(v)) return s;
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}
}  // namespace

std::string YesOrNo(wave::Feature feature, Lang lang) {
  constexpr std::string_view kBegin = "1 where ", kEnd = "则为 1";
  const wave::FeatureInfo& info = wave::Info(feature);
  const std::string_view text = lang == Lang::kZh ? info.zh : info.en;
  if (lang == Lang::kEn && StartsWith(text, kBegin)) return std::string(text.substr(kBegin.size()));
  if (lang == Lang::kZh && EndsWith(text, kEnd)) return std::string(text.substr(0, text.size() - kEnd.size()));
  return "";
}

std::string FormatValue(wave::Feature feature, double value, Lang lang, int decimals) {
  if (IsMissing(value)) return "—";
  if ((value == 0 || value == 1) && !YesOrNo(feature, lang).empty())
    return std::string(Text(lang, value == 1 ? Msg::kRulesYes : Msg::kRulesNo));
  const std::string_view unit = wave::Info(feature).unit;
  // Factors that may be above 1: as a percentage they would read like shares.
  if (feature == wave::Feature::kWorkersPerCore || feature == wave::Feature::kMemSpread)
    return Number(value, decimals < 2 ? 2 : decimals);
  if (unit == "ratio") return Number(value * 100, decimals) + " %";
  if (feature == wave::Feature::kUtilSpread || feature == wave::Feature::kSwing)
    return Number(value, decimals) + std::string(Text(lang, Msg::kRulesUnitPoints));
  if (unit == "percent") return Number(value, decimals) + " %";
  if (unit == "s") return decimals <= 1 ? FormatDuration(value, lang) : Number(value, decimals) + " s";
  if (unit == "count") return Number(value, decimals);
  if (unit == "cores")
    return Number(value, decimals < 2 ? 2 : decimals) + std::string(Text(lang, Msg::kRulesUnitCores));
  if (unit == "mb_s") return Number(value, decimals) + " MB/s";
  if (unit == "C") return Number(value, decimals) + " °C";
  return Number(value, decimals) + " " + std::string(unit);
}

ValuePair FormatPair(const Condition& c, double value, Lang lang) {
  ValuePair pair{FormatValue(c.feature, value, lang), FormatValue(c.feature, c.value, lang)};
  // 5.97 % against ">= 6 %" must not print as "6 %", or the verdict reads like a mistake.
  for (int decimals = 2; decimals <= 9 && pair.value == pair.threshold && value != c.value; ++decimals) {
    pair = {FormatValue(c.feature, value, lang, decimals), FormatValue(c.feature, c.value, lang, decimals)};
  }
  return pair;
}

}  // namespace sawbill::rules
