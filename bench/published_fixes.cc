// SPDX-License-Identifier: Apache-2.0
// Prints what the saving estimator says of 13 published fixes beside their real gain and beside the classic formula
// "new time = old time x u0/u1", as the table of docs/benchmarks.md.
#include "whatif/published_fixes.h"

#include <fmt/format.h>

int main() {
  using namespace sawbill::whatif;
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  const auto row = [&](const std::string& name, double truth, const FixEstimate& e, const std::string& naive) {
    const std::string range = e.told ? percent(e.range.low) + " to " + percent(e.range.high) : "not told";
    fmt::print("| {} | {} | {} | {} | {} |\n", name, percent(truth), range, e.told ? percent(e.range.expected) : "-",
               naive);
  };
  fmt::print("| fix | real saving | range | expected | formula |\n|---|---|---|---|---|\n");
  for (const PublishedFix& f : PublishedFixes()) {
    const FixEstimate e = EstimateFix(f);
    row(std::string(f.name) + (e.single ? "" : " (*)"), TrueSaving(f.speedup), e, percent(NaiveSaving(f)));
  }
  double doubling = 0;
  for (const PublishedDoubling& d : PublishedDoublings()) {
    FixEstimate e;
    e.range = DoubleBatch(1);
    row(d.name, TrueSaving(d.speedup), e, "-");
    doubling += std::abs(TrueSaving(d.speedup) - e.range.expected);
  }
  const FixScore s = ScoreFixes();
  fmt::print("\npublished_fixes_error {:.3f} share {:.2f}\n", s.ours, s.naive / s.ours);
  fmt::print("published_fixes_error_formula {:.3f} share -\n", s.naive);
  fmt::print("published_fixes_told_error {:.3f} share {:.2f}\n", s.told_ours, s.told_naive / s.told_ours);
  fmt::print("published_fixes_inside {} of_{} -\n", s.inside, s.told);
  fmt::print("published_fixes_width {:.2f} share -\n", s.width);
  fmt::print("published_doublings_error {:.3f} share -\n", doubling / static_cast<double>(PublishedDoublings().size()));
}
