// SPDX-License-Identifier: Apache-2.0
// The list of features for docs/formats/rules.md, printed from the table that the parser reads.
#include "rules/rules.h"

namespace sawbill::rules {
namespace {
std::string_view WrittenAs(std::string_view unit) {
  if (unit == "ratio") return "`8%` or `0.08`";
  if (unit == "percent") return "`8%` or `8`";
  if (unit == "s") return "`90s`, `15m`";
  return "plain number";
}
}  // namespace

std::string FeatureTableMarkdown() {
  std::string out =
      "| feature | unit | written as | what it is | 含义 | how it is had, from which columns |\n| --- | --- | --- | "
      "--- | --- | --- |\n";
  for (size_t i = 0; i < wave::kFeatures; ++i) {
    const wave::FeatureInfo& f = wave::Info(static_cast<wave::Feature>(i));
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", f.name, f.unit, WrittenAs(f.unit), f.en, f.zh, f.from);
  }
  return out;
}

}  // namespace sawbill::rules
