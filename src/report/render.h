// SPDX-License-Identifier: Apache-2.0
// From the report struct to what is printed. Pure: same struct, same bytes.
#pragma once

#include <string>

#include "report/report.h"

namespace sawbill::report {

struct TextStyle {
  int columns = 80;     // terminal width; the receipt uses at most 100
  bool color = false;   // ANSI colours; never the only carrier of a meaning
  bool unicode = true;  // false: ASCII blocks and rules
  bool all = false;     // all findings and all evidence, not the first three
};

/// The receipt: a bill that a person reads in ten seconds.
std::string RenderText(const Report& r, const TextStyle& style);
/// The findings with all evidence and causal chains (`sawbill diagnose`).
std::string RenderDiagnosis(const Report& r, const TextStyle& style);
std::string RenderMarkdown(const Report& r);
/// Self-contained page: no script, no network, light and dark, printable.
std::string RenderHtml(const Report& r);
/// "schema": "sawbill.report/1", contracts.md.
std::string RenderJson(const Report& r);
/// Ledger by card (or by group), one row each, header first.
std::string RenderCsv(const Report& r);

/// Rounds `values` to `decimals` so that the printed column adds up to the rounded sum (largest remainder).
std::vector<std::string> RoundToSum(const std::vector<double>& values, int decimals);

}  // namespace sawbill::report
