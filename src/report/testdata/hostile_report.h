// SPDX-License-Identifier: Apache-2.0
// A report whose every word comes from an enemy, and whose numbers are missing where they can be.
#pragma once

#include <limits>

#include "report/testdata/sample_reports.h"

namespace sawbill::report {

inline const std::string kHostile =
    "x\x1b[31m\xff\xfe</title><script>alert('1')</script>\n## a\r\n|b`c`*d* \"q\" ![i](http://e) \xe2\x80\xae \x07"
    "end";

inline Report HostileReport(Lang lang) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Report r = TwelveCards(lang);
  r.source = r.format = r.currency = r.by = kHostile;
  r.tz = kHostile;
  r.sm_util_mean = nan;
  r.waste_upper_bound = inf;
  r.observed_s = nan;
  for (GpuRow& g : r.gpus) {
    g.gpu = g.name = g.label = g.uuid = kHostile;
    g.node += kHostile;
    g.stats = {{"sm_util", nan, inf, -inf, nan}, {kHostile, 1, 2, 3, {}}};
    g.idle = {nan, kHostile, inf, nan};
    g.wave[3] = std::numeric_limits<float>::infinity();
    g.prices = {{0, 0, nan, kHostile, kHostile, kHostile}};
    g.cost = nan;
  }
  r.runs.resize(1);
  RunRow& run = r.runs[0];
  run.run = run.job = run.user = run.project = run.program = run.node = run.exit_status = kHostile;
  run.gpus = {kHostile};
  for (Finding& f : r.findings) {
    f.run = kHostile;
    f.gpus = {kHostile};
    f.confidence = nan;
    f.period_s = inf;
    f.width_s = nan;
    f.evidence_tier = kHostile;
    f.evidence = {{kHostile, kHostile, nan, inf, 0, 0}, {kHostile, kHostile, 1.0, nan, r.period_from, r.period_to}};
    f.because = {kHostile, kHostile};
    f.recommendations = {{kHostile, 7, kHostile, kHostile, kHostile, kHostile, kHostile}};
  }
  r.findings[1].saving->expected = nan;
  r.findings[2].saving->share = nan;
  for (GroupRow& g : r.groups) g.key = kHostile;
  r.ledger[2].cost = nan;
  r.ledger[3].share = nan;
  r.cannot_judge = r.limits = r.unpriced = {kHostile};
  r.data_quality = {{kHostile, model::Severity::kHigh, 2, kHostile, kHostile}};
  return r;
}

}  // namespace sawbill::report
