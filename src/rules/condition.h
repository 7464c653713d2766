// SPDX-License-Identifier: Apache-2.0
// The small language inside a rule's strings: "wait_share >= 8%", "sm_util < 30%", "sm_util falls 15%". Reading it, and
// writing its values for people in the unit of the feature.
#pragma once

#include <string>
#include <string_view>

#include "rules/rules.h"

namespace sawbill::rules {

/// What is wrong with a text, and at which byte of it; an empty message means that nothing is.
struct TextError {
  size_t offset = 0;
  std::string message;
  bool ok() const { return message.empty(); }
};

/// "FEATURE OP VALUE" -> all of `out` but its line.
TextError ParseCondition(std::string_view text, Condition* out);
/// "METRIC OP VALUE" (threshold) or "METRIC falls|rises N%" (trend) -> metric, op, value and text of `out`.
TextError ParseMetricTest(std::string_view text, Layer layer, MetricTest* out);

std::string_view OpText(Op op);
bool Compare(double left, Op op, double right);
/// "43.2 %", "5 min", "12 W", "3.5 cores", "yes" (a fact that holds or not); in Chinese "5 分钟", "3.5 核", "是". "—"
/// for a missing value. At most `decimals` after the point.
std::string FormatValue(wave::Feature feature, double value, Lang lang, int decimals = 1);
/// Value and threshold with as many decimals as it takes to see that they differ, if they do.
struct ValuePair {
  std::string value, threshold;
};
ValuePair FormatPair(const Condition& c, double value, Lang lang);
/// What a feature that is 1 or 0 says when it is 1: "the card model has tensor cores"; "" for one that is a figure.
std::string YesOrNo(wave::Feature feature, Lang lang);

}  // namespace sawbill::rules
