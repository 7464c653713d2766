// SPDX-License-Identifier: Apache-2.0
#include "report/price_notes.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::report {
namespace {

constexpr TimeMs kDayMs = 86'400'000;

/// A price, and the end of the last time that it was applied to.
struct Applied {
  const money::Price* price = nullptr;
  TimeMs until = 0;
};

void Add(const std::vector<Rates::Span>& spans, std::vector<Applied>* out) {
  for (const Rates::Span& s : spans) {
    if (s.price == nullptr || s.price->as_of.empty()) continue;
    const auto known = std::find_if(out->begin(), out->end(), [&](const Applied& a) { return a.price == s.price; });
    if (known == out->end()) {
      out->push_back({s.price, s.range.to});
    } else {
      known->until = std::max(known->until, s.range.to);
    }
  }
}

std::string Note(const Applied& a, const std::string& currency, Lang lang) {
  const money::Price& p = *a.price;
  const std::string amount = FormatShortest(p.per_hour), source = Sanitize(p.source);
  const auto day = ParseCivil(p.as_of);
  const TimeMs apart = day ? a.until - UtcFromCivil(*day) : 0;
  const int64_t days = (apart < 0 ? -apart : apart) / kDayMs;
  if (days <= kPriceOldDays) return Tr(lang, Msg::kReportPriceOf, amount, currency, source, p.as_of);
  const Msg said = apart > 0 ? Msg::kReportPriceOld : Msg::kReportPriceLater;
  return Tr(lang, said, amount, currency, source, p.as_of, days);
}

}  // namespace

std::vector<std::string> PriceNotes(const analysis::Analysis& a, const Rates& rates, const std::string& currency,
                                    Lang lang) {
  std::vector<Applied> applied;
  for (size_t k = 0; k < a.cards.size(); ++k) {
    if (a.cards[k].period_s > 0) Add(rates.Spans(k, "", a.period), &applied);
  }
  for (const analysis::RunFacts& run : a.runs) {
    for (const size_t k : run.cards) {
      if (!run.job.empty()) Add(rates.Spans(k, run.job, run.range), &applied);
    }
  }
  std::vector<std::string> notes;
  for (const Applied& price : applied) notes.push_back(Note(price, currency, lang));
  return notes;
}

}  // namespace sawbill::report
