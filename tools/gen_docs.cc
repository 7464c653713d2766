// SPDX-License-Identifier: Apache-2.0
// Prints docs/metrics.md and docs/findings.md from the tables that the program itself uses, so that they cannot
// disagree: the metric catalog, the lists of findings, causes, ledger lines and odd data, the features, and the shipped
// rules.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "model/data_quality.h"
#include "model/ids.h"
#include "model/metrics.h"
#include "rules/rules.h"
#include "wave/features.h"

namespace sawbill {
namespace {

constexpr std::string_view kGenerated = "<!-- Written by `make docs` from the program's own tables. Do not edit. -->\n";

/// A cell of a Markdown table: a bar would end it.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string_view KindName(model::Kind kind) {
  switch (kind) {
    case model::Kind::kGauge:
      return "gauge";
    case model::Kind::kCounter:
      return "counter";
    case model::Kind::kState:
      return "state";
  }
  return "";
}

template <typename Metric>
std::string MetricTable(size_t count) {
  std::string out =
      "| column | unit | kind | sound range | Prometheus | what it is | 中文 |\n|---|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < count; ++i) {
    const model::MetricInfo& m = model::Info(static_cast<Metric>(i));
    const std::string exported = m.prometheus[0] == '\0' ? "-" : fmt::format("`{}`", m.prometheus);
    out += fmt::format("| `{}` | {} | {} | {} to {} | {} | {} | {} |\n", m.name, m.unit, KindName(m.kind), m.min, m.max,
                       exported, Cell(m.help), m.label_zh);
  }
  return out;
}

std::string Metrics() {
  std::string out = "# Metrics\n\n";
  out += kGenerated;
  out +=
      "\nOne catalog (`src/model/metrics.cc`) gives the columns of day files, the keys of the JSON report, labels and "
      "Prometheus names.\n"
      "An empty cell means *not read*; it is never a zero. A reading outside the sound range is counted as odd data "
      "and left empty.\n";
  out += "\n## Per GPU\n\n" + MetricTable<model::GpuMetric>(model::kGpuMetrics);
  out += "\n`throttle` holds `none` or these, joined by a bar:";
  for (size_t i = 0; i < static_cast<size_t>(model::ThrottleBit::kCount); ++i) {
    out += fmt::format(" `{}`", model::Name(static_cast<model::ThrottleBit>(i)));
  }
  out += ".\n";
  out += "\n## Per host\n\n" + MetricTable<model::HostMetric>(model::kHostMetrics);
  out += "\n## Per process on a GPU\n\n" + MetricTable<model::ProcessMetric>(model::kProcessMetrics);
  out += "\n## Odd data\n\nCounted by name, and shown in every report; never an error and never a value.\n\n";
  out += "| counter | severity | what it means | 中文 |\n|---|---|---|---|\n";
  for (size_t i = 0; i < model::kOdds; ++i) {
    const model::OddInfo& o = model::Info(static_cast<model::Odd>(i));
    out += fmt::format("| `{}` | {} | {} | {} |\n", o.name, model::Name(o.severity), Cell(o.en), o.zh);
  }
  return out;
}

std::string_view LayerName(rules::Layer layer) {
  switch (layer) {
    case rules::Layer::kThreshold:
      return "threshold";
    case rules::Layer::kComposite:
      return "composite";
    case rules::Layer::kTrend:
      return "trend";
  }
  return "";
}

std::string ConditionList(std::string_view title, const std::vector<rules::Condition>& conditions) {
  if (conditions.empty()) return "";
  std::string out = fmt::format("- {}:", title);
  for (const rules::Condition& c : conditions)
    out += fmt::format("{} `{}`", &c == &conditions.front() ? "" : ",", c.text);
  return out + "\n";
}

std::string WeightList(std::string_view title, char sign, const std::vector<rules::Evidence>& evidence) {
  if (evidence.empty()) return "";
  std::string out = fmt::format("- {}:", title);
  for (const rules::Evidence& e : evidence) {
    out += fmt::format("{} `{}` ({}{:g})", &e == &evidence.front() ? "" : ",", e.condition.text, sign, e.weight);
  }
  return out + "\n";
}

std::string RuleText(const rules::Rule& rule) {
  std::string out =
      fmt::format("\nRule `{}`, layer {}{}.\n\n", rule.name, LayerName(rule.layer), rule.enabled ? "" : ", off");
  if (rule.test) out += fmt::format("- test: `{}`\n", rule.test->text);
  out += ConditionList("needs all of", rule.require) + ConditionList("not where", rule.exclude);
  out += fmt::format("- starts at {:g}, fires from {:g}\n", rule.base, rule.score_min);
  out += WeightList("speaks for it", '+', rule.support) + WeightList("speaks against it", '-', rule.contra);
  for (const rules::CauseRule& cause : rule.causes) {
    out += fmt::format("- cause `{}` ({}), from {:g}\n", model::Name(cause.cause), model::Title(cause.cause, Lang::kEn),
                       cause.base);
    for (const std::string& line :
         {ConditionList("needs all of", cause.require), ConditionList("not where", cause.exclude),
          WeightList("speaks for it", '+', cause.support), WeightList("speaks against it", '-', cause.contra)}) {
      if (!line.empty()) out += "  " + line;
    }
  }
  if (!rule.note_en.empty()) out += "\n" + rule.note_en + "\n";
  return out;
}

std::string Findings() {
  std::string out = "# Findings, causes and ledger lines\n\n";
  out += kGenerated;
  out +=
      "\nThe thresholds below are those of the shipped rules (`rules/default.toml`); `sawbill rules explain` prints "
      "how they were met by a "
      "recording.\n\n## Ledger lines\n\nEach interval of each card is shared out among these lines; they add up to the "
      "bill.\n\n"
      "| line | title | 中文 |\n|---|---|---|\n";
  for (size_t i = 0; i < model::kLines; ++i) {
    const auto line = static_cast<model::Line>(i);
    out += fmt::format("| `{}` | {} | {} |\n", model::Name(line), model::Title(line, Lang::kEn),
                       model::Title(line, Lang::kZh));
  }
  const rules::RuleSet& shipped = rules::DefaultRules();
  for (size_t i = 0; i < model::kFindingIds; ++i) {
    const auto id = static_cast<model::FindingId>(i);
    const model::FindingInfo& info = model::Info(id);
    out += fmt::format("\n## `{}`\n\n{} ({}). Its seconds stand on {}.\n", info.name, info.title_en, info.title_zh,
                       info.own_line ? fmt::format("line `{}`", model::Name(info.line))
                                     : "lines of others: it explains them, and is never counted twice");
    bool any = false;
    for (const rules::Rule& rule : shipped.rules) {
      if (rule.finding != id) continue;
      out += RuleText(rule);
      any = true;
    }
    if (!any) out += "\nNo shipped rule judges it yet.\n";
  }
  out += "\n## Features that rules may name\n\n| feature | unit | what it is | 中文 |\n|---|---|---|---|\n";
  for (size_t i = 0; i < wave::kFeatures; ++i) {
    const wave::FeatureInfo& f = wave::Info(static_cast<wave::Feature>(i));
    out += fmt::format("| `{}` | {} | {} | {} |\n", f.name, f.unit, Cell(f.en), f.zh);
  }
  return out;
}

}  // namespace
}  // namespace sawbill

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "metrics") text = sawbill::Metrics();
  if (what == "findings") text = sawbill::Findings();
  if (text.empty()) {
    std::fputs("usage: gen_docs metrics|findings\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 3;
}
