// SPDX-License-Identifier: Apache-2.0
#include "report/html_charts.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "report/sparkline.h"

namespace sawbill::report {
namespace {

std::string N(double v) { return FormatShortest(std::round(v * 10) / 10); }
std::string Y(float percent) { return N(100 - std::clamp(static_cast<double>(percent), 0.0, 100.0)); }

/// Calls `use(first, last)` for each run of present (or of missing) values, last included.
template <typename Use>
void Stretches(const std::vector<float>& values, bool present, Use use) {
  for (size_t i = 0; i < values.size();) {
    if (std::isnan(values[i]) == present) {
      ++i;
      continue;
    }
    size_t last = i;
    while (last + 1 < values.size() && std::isnan(values[last + 1]) != present) ++last;
    use(i, last);
    i = last + 1;
  }
}

}  // namespace

std::string WaveSvg(const GpuRow& g, int points, const std::vector<SeenSpan>& seen, const std::string& title) {
  const int n = std::min(points, static_cast<int>(g.wave.size()));
  const std::vector<float> mean = Resample(g.wave, n, Pool::kMean), low = Resample(g.wave_low, n, Pool::kMin);
  if (mean.empty()) return "";
  std::string out = fmt::format(
      R"(<svg class="wave" viewBox="0 0 {} 100" preserveAspectRatio="none" role="img" aria-label="{}"><title>{}</title>)",
      n, EscapeHtml(title), EscapeHtml(title));
  Stretches(mean, false, [&](size_t a, size_t b) {
    out += fmt::format(R"(<rect class="hole" x="{}" y="0" width="{}" height="100"/>)", a, b - a + 1);
  });
  for (const int y : {20, 50, 80}) out += fmt::format(R"(<path class="grid" d="M0 {}H{}"/>)", y, n);
  std::string area, line;
  Stretches(mean, true, [&](size_t a, size_t b) {
    area += fmt::format("M{} 100", a);
    for (size_t i = a; i <= b; ++i) area += "V" + Y(mean[i]) + "h1";
    area += "V100Z";
  });
  Stretches(low, true, [&](size_t a, size_t b) {
    line += fmt::format("M{} {}h1", a, Y(low[a]));
    for (size_t i = a + 1; i <= b; ++i) line += "V" + Y(low[i]) + "h1";
  });
  out += R"(<path class="mean" d=")" + area + R"("/>)";
  if (!line.empty()) out += R"(<path class="low" d=")" + line + R"("/>)";
  for (const SeenSpan& s : seen) {
    out += fmt::format(R"(<rect class="seen" x="{}" y="0" width="{}" height="5"/>)", N(s.from * n),
                       N(std::max((s.to - s.from) * n, n / 400.0)));
  }
  return out + "</svg>";
}

std::string LedgerSvg(const View& v, const std::string& title) {
  const auto share = [](const LedgerCell& c) { return std::isfinite(c.share) ? std::max(c.share, 0.0) : 0.0; };
  double sum = 0;
  for (const LedgerCell& c : v.ledger()) sum += share(c);
  if (!(sum > 0)) return "";
  std::string out = fmt::format(
      R"(<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="{}"><title>{}</title>)",
      EscapeHtml(title), EscapeHtml(title));
  double x = 0;
  for (const LedgerCell& c : v.ledger()) {
    const double width = share(c) / sum * 1000;
    out +=
        fmt::format(R"-(<rect x="{}" y="0" width="{}" height="10" style="fill:var(--{})"><title>{} {}</title></rect>)-",
                    N(x), N(width), model::Name(c.line), EscapeHtml(c.title), c.percent);
    x += width;
  }
  return out + "</svg>";
}

}  // namespace sawbill::report
