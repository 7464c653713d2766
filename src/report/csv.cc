// SPDX-License-Identifier: Apache-2.0
// The ledger as a table for programs: group,line,gpu_seconds,share,cost,currency. All lines of each group are there,
// zeros too, so that every group has the same rows. A cost that is not known is an empty cell.
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "report/render.h"
#include "report/rounding.h"

namespace sawbill::report {
namespace {

constexpr int kSecondDecimals = 3;
constexpr int kShareDecimals = 6;
constexpr int kCostDecimals = 6;

struct Column {
  std::vector<double> gpu_seconds, shares, costs;
};

std::string Cells(std::optional<int64_t> units, int decimals) {
  return units ? FormatUnits(units, decimals, false) : "";
}

/// A spreadsheet runs a cell that begins like a formula; a quote in front makes it text (OWASP, CSV injection).
std::string Name(const std::string& s) {
  std::string name = Sanitize(s);
  if (!name.empty() && std::string_view("=+-@").find(name[0]) != std::string_view::npos) name.insert(0, 1, '\'');
  return EscapeCsv(name);
}

void AppendGroup(std::string* out, const Report& r, const std::string& group, const Column& c, const Money& cost) {
  const auto seconds = RoundUnits(c.gpu_seconds, kSecondDecimals);
  const auto shares = RoundUnits(c.shares, kShareDecimals);
  const auto costs = RoundUnits(c.costs, kCostDecimals, cost);
  const std::string name = Name(group), currency = Name(r.currency);
  for (size_t i = 0; i < c.gpu_seconds.size(); ++i) {
    const model::Line line = r.groups.empty() ? r.ledger[i].line : static_cast<model::Line>(i);
    *out += fmt::format("{},{},{},{},{},{}\n", name, model::Name(line), Cells(seconds[i], kSecondDecimals),
                        Cells(shares[i], kShareDecimals), Cells(costs[i], kCostDecimals), costs[i] ? currency : "");
  }
}

/// The one price of an hour of all cards, if there is one: only then is a group's cost of a line its seconds times
/// that. With several prices the seconds of a line do not tell which of them they cost.
std::optional<double> OnlyPrice(const Report& r) {
  std::optional<double> price;
  for (const GpuRow& g : r.gpus) {
    if (g.prices.empty()) return std::nullopt;
    for (const PriceSpan& p : g.prices) {
      if (price && *price != p.price_per_hour) return std::nullopt;
      price = p.price_per_hour;
    }
  }
  return price;
}

}  // namespace

std::string RenderCsv(const Report& r) {
  std::string out = "group,line,gpu_seconds,share,cost,currency\n";
  if (r.groups.empty()) {
    Column c;
    for (const LedgerRow& row : r.ledger) {
      c.gpu_seconds.push_back(row.gpu_seconds);
      c.shares.push_back(row.share);
      c.costs.push_back(row.cost.value_or(kMissing));
    }
    AppendGroup(&out, r, "all", c, r.cost);
    return out;
  }
  const std::optional<double> price = OnlyPrice(r);
  for (const GroupRow& g : r.groups) {
    double seconds = 0;
    for (const double s : g.lines) seconds += s;
    Column c;
    for (size_t i = 0; i < model::kLines; ++i) {
      c.gpu_seconds.push_back(g.lines[i]);
      c.shares.push_back(seconds > 0 ? g.lines[i] / seconds : kMissing);
      double cost = kMissing;
      if (i < g.line_costs.size() && g.line_costs[i]) {
        cost = *g.line_costs[i];
      } else if (g.line_costs.empty() && g.cost && price) {
        cost = g.lines[i] / 3600 * *price;
      }
      c.costs.push_back(cost);
    }
    AppendGroup(&out, r, g.key, c, g.cost);
  }
  return out;
}

}  // namespace sawbill::report
