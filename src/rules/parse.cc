// SPDX-License-Identifier: Apache-2.0
// Reads a rule file (docs/formats/rules.md) on top of other rules. Strict, for a misspelt word in a rule would silently
// change what is found: every key, name, unit and number is checked, and all mistakes are reported at once, each with
// its place. The only file of this room that sees toml++.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/time.h"
#include "rules/causes.h"
#include "rules/condition.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {

constexpr std::string_view kSchema = "sawbill.rules/1";
using Keys = std::vector<std::string>;
const Keys& FileKeys() {
  static const Keys* const kKeys = new Keys{"schema", "rule"};
  return *kKeys;
}
const Keys& RuleKeys() {
  static const Keys* const kKeys =
      new Keys{"name",   "finding", "layer",   "enabled",   "require", "exclude", "support", "contra",  "base",
               "margin", "note",    "note_zh", "score_min", "when",    "for",     "window",  "against", "cause"};
  return *kKeys;
}
const Keys& CauseKeys() {
  static const Keys* const kKeys = new Keys{"id", "enabled", "require", "exclude", "support", "contra", "base"};
  return *kKeys;
}
const Keys& EvidenceKeys() {
  static const Keys* const kKeys = new Keys{"if", "weight"};
  return *kKeys;
}

struct Place {
  int line = 1, column = 1;
  auto operator<=>(const Place&) const = default;
};
Place At(const toml::source_region& source) {
  return {std::max(1, static_cast<int>(source.begin.line)), std::max(1, static_cast<int>(source.begin.column))};
}
/// The place of byte `offset` within a string node, where it stands on one line and without escapes.
Place Within(const toml::node& node, size_t offset) {
  Place place = At(node.source());
  const toml::source_region& region = node.source();
  const auto* text = node.as_string();
  if (text == nullptr || region.begin.line != region.end.line) return place;
  if (region.end.column - region.begin.column != (*text)->size() + 2) return place;
  place.column += 1 + static_cast<int>(offset);
  return place;
}

std::string Suggest(std::string_view word, const Keys& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? "one of: " + Join(candidates, ", ") : fmt::format("did you mean '{}'?", nearest);
}

std::optional<Layer> FindLayer(std::string_view s) {
  if (s == "threshold") return Layer::kThreshold;
  if (s == "composite") return Layer::kComposite;
  if (s == "trend") return Layer::kTrend;
  return std::nullopt;
}

/// Reads one file into a copy of the base rules. Mistakes are collected; a value that is wrong leaves what was there.
class RuleFile {
 public:
  RuleFile(std::string where, RuleSet base, bool built_in)
      : where_(std::move(where)), built_in_(built_in), rules_(std::move(base)) {}

  void Read(const toml::table& file);
  Result<RuleSet> Finish() &&;

 private:
  void Wrong(Place place, std::string message) { errors_.emplace_back(place, std::move(message)); }
  void WrongType(const toml::node& node, std::string_view key, std::string_view wanted) {
    Wrong(At(node.source()), fmt::format("{} must be {}", key, wanted));
  }
  void CheckKeys(const toml::table& table, const Keys& known, std::string_view of_what);
  const std::string* ReadString(const toml::table& table, std::string_view key, const toml::node** node = nullptr);
  void ReadBool(const toml::table& table, std::string_view key, bool* out);
  void ReadShare(const toml::table& table, std::string_view key, double* out);
  void ReadDuration(const toml::table& table, std::string_view key, double* out_s);
  bool ReadCondition(const toml::node& node, std::string_view key, Condition* out);
  void ReadConditions(const toml::table& table, std::string_view key, std::vector<Condition>* out);
  void ReadEvidence(const toml::table& table, std::string_view key, std::vector<Evidence>* out);
  void ReadRule(const toml::table& table);
  Rule* StartRule(const toml::table& table);
  void ReadLayer(const toml::table& table, Rule* rule);
  void ReadTest(const toml::table& table, Rule* rule);
  void ReadCauses(const toml::table& table, Rule* rule);
  void ReadCause(const toml::table& table, std::set<model::Cause>* seen, Rule* rule);
  void CheckRule(const toml::table& table, const Rule& rule);
  void CheckReach(Place place, std::string_view what, double base, const std::vector<Evidence>& support,
                  double score_min);

  std::string where_;
  bool built_in_;
  RuleSet rules_;
  std::vector<std::pair<std::string, int>> seen_;  // names in this file, with their lines
  std::vector<std::pair<Place, std::string>> errors_;
};

void RuleFile::CheckKeys(const toml::table& table, const Keys& known, std::string_view of_what) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Wrong(At(key.source()), fmt::format("unknown key '{}' in {}; {}", Sanitize(name), of_what, Suggest(name, known)));
  }
}

const std::string* RuleFile::ReadString(const toml::table& table, std::string_view key, const toml::node** node) {
  const toml::node* found = table.get(key);
  if (found == nullptr) return nullptr;
  const auto* text = found->as_string();
  if (text == nullptr) {
    WrongType(*found, key, "a text in quotes");
    return nullptr;
  }
  if (node != nullptr) *node = found;
  return &text->get();
}

void RuleFile::ReadBool(const toml::table& table, std::string_view key, bool* out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  if (const auto* b = node->as_boolean()) {
    *out = b->get();
  } else {
    WrongType(*node, key, "true or false");
  }
}

void RuleFile::ReadShare(const toml::table& table, std::string_view key, double* out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const std::optional<double> v = node->is_number() ? node->value<double>() : std::nullopt;
  if (!v || !(*v >= 0 && *v <= 1)) {
    WrongType(*node, key, "a number from 0 to 1, without quotes");
    return;
  }
  *out = *v;
}

void RuleFile::ReadDuration(const toml::table& table, std::string_view key, double* out_s) {
  const toml::node* node = nullptr;
  const std::string* text = ReadString(table, key, &node);
  if (text == nullptr) return;
  const std::optional<TimeMs> ms = ParseDuration(*text);
  if (!ms || *ms <= 0) {
    Wrong(At(node->source()),
          fmt::format("{} = \"{}\" is no length of time; write a positive number with ms, s, m, h or d", key,
                      Sanitize(*text)));
    return;
  }
  *out_s = Seconds(*ms);
}

bool RuleFile::ReadCondition(const toml::node& node, std::string_view key, Condition* out) {
  const auto* text = node.as_string();
  if (text == nullptr) {
    WrongType(node, key, "a condition in quotes, as in \"wait_share >= 8%\"");
    return false;
  }
  TextError error = ParseCondition(text->get(), out);
  out->line = At(node.source()).line;
  if (!error.ok()) Wrong(Within(node, error.offset), std::move(error.message));
  return error.ok();
}

void RuleFile::ReadConditions(const toml::table& table, std::string_view key, std::vector<Condition>* out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return WrongType(*node, key, "a list, as in [\"wait_share >= 8%\"]");
  out->clear();
  for (const toml::node& item : *list) {
    Condition c;
    if (ReadCondition(item, fmt::format("an item of {}", key), &c)) out->push_back(std::move(c));
  }
}

void RuleFile::ReadEvidence(const toml::table& table, std::string_view key, std::vector<Evidence>* out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  constexpr std::string_view kForm = "a list, as in [{ if = \"worker_busy >= 80%\", weight = 0.25 }]";
  if (list == nullptr) return WrongType(*node, key, kForm);
  out->clear();
  for (const toml::node& item : *list) {
    const toml::table* entry = item.as_table();
    if (entry == nullptr) {
      WrongType(item, key, kForm);
      continue;
    }
    CheckKeys(*entry, EvidenceKeys(), key);
    Evidence e;
    const toml::node* condition = entry->get("if");
    if (condition == nullptr) Wrong(At(item.source()), fmt::format("an item of {} needs if = \"...\"", key));
    if (entry->get("weight") == nullptr) Wrong(At(item.source()), fmt::format("an item of {} needs weight = 0.1", key));
    ReadShare(*entry, "weight", &e.weight);
    if (condition != nullptr && ReadCondition(*condition, "if", &e.condition)) out->push_back(std::move(e));
  }
}

void RuleFile::Read(const toml::table& file) {
  CheckKeys(file, FileKeys(), "a rule file");
  if (file.get("schema") == nullptr) {
    Wrong({}, fmt::format("the file does not say what it is; put schema = \"{}\" in its first line", kSchema));
  } else {
    const toml::node* node = nullptr;
    const std::string* schema = ReadString(file, "schema", &node);
    if (schema != nullptr && *schema != kSchema) {
      Wrong(At(node->source()),
            fmt::format("schema \"{}\" is not one that this build reads; it reads \"{}\"", Sanitize(*schema), kSchema));
    }
  }
  const toml::node* list = file.get("rule");
  if (list == nullptr) return;
  if (list->as_array() == nullptr) return WrongType(*list, "rule", "written as [[rule]], with double brackets");
  for (const toml::node& item : *list->as_array()) {
    if (const toml::table* table = item.as_table()) {
      ReadRule(*table);
    } else {
      WrongType(item, "rule", "written as [[rule]], with double brackets");
    }
  }
}

/// The rule that `table` speaks of: one of the base, or a new one; nullptr where its name is wrong.
Rule* RuleFile::StartRule(const toml::table& table) {
  const toml::node* node = nullptr;
  const std::string* name = ReadString(table, "name", &node);
  if (name == nullptr) {
    if (table.get("name") == nullptr) Wrong(At(table.source()), "a rule needs name = \"...\"");
    return nullptr;
  }
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name->empty() || name->size() > 64 || !std::all_of(name->begin(), name->end(), good)) {
    Wrong(At(node->source()),
          fmt::format("'{}' is no name of a rule; use letters, digits and - _ . (at most 64)", Sanitize(*name)));
    return nullptr;
  }
  for (const auto& [other, line] : seen_) {
    if (other != *name) continue;
    Wrong(At(node->source()),
          fmt::format("rule '{}' stands in line {} already; give this one another name", *name, line));
    return nullptr;
  }
  seen_.emplace_back(*name, At(table.source()).line);
  const auto known =
      std::find_if(rules_.rules.begin(), rules_.rules.end(), [&](const Rule& r) { return r.name == *name; });
  if (known != rules_.rules.end()) return &*known;
  if (table.get("finding") == nullptr) {
    Keys names;
    for (const Rule& r : rules_.rules) names.push_back(r.name);
    const std::string nearest = Nearest(*name, names);
    Wrong(At(node->source()), fmt::format("there is no rule '{}' to change, and a new one needs finding = \"...\"{}",
                                          *name, nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    return nullptr;
  }
  rules_.rules.emplace_back();
  rules_.rules.back().name = *name;
  return &rules_.rules.back();
}

void RuleFile::ReadRule(const toml::table& table) {
  CheckKeys(table, RuleKeys(), "a rule");
  Rule* rule = StartRule(table);
  if (rule == nullptr) return;
  rule->built_in = built_in_;
  rule->where = where_;
  rule->line = At(table.source()).line;
  const size_t errors_before = errors_.size();
  const toml::node* node = nullptr;
  if (const std::string* finding = ReadString(table, "finding", &node)) {
    if (const auto id = model::FindFinding(*finding)) {
      rule->finding = *id;
    } else {
      Keys names;
      for (size_t i = 0; i < model::kFindingIds; ++i) names.emplace_back(model::Name(static_cast<model::FindingId>(i)));
      Wrong(At(node->source()), fmt::format("unknown finding '{}'; {}", Sanitize(*finding), Suggest(*finding, names)));
    }
  }
  const bool finding_known = errors_.size() == errors_before;
  ReadLayer(table, rule);
  ReadBool(table, "enabled", &rule->enabled);
  ReadConditions(table, "require", &rule->require);
  ReadConditions(table, "exclude", &rule->exclude);
  ReadEvidence(table, "support", &rule->support);
  ReadEvidence(table, "contra", &rule->contra);
  ReadShare(table, "base", &rule->base);
  ReadShare(table, "score_min", &rule->score_min);
  ReadShare(table, "margin", &rule->margin);
  if (const std::string* note = ReadString(table, "note")) rule->note_en = *note;
  if (const std::string* note = ReadString(table, "note_zh")) rule->note_zh = *note;
  ReadTest(table, rule);
  if (finding_known) ReadCauses(table, rule);
  if (errors_.size() == errors_before)
    CheckRule(table, *rule);  // else what follows from a mistake would be reported too
}

void RuleFile::ReadLayer(const toml::table& table, Rule* rule) {
  const toml::node* node = nullptr;
  const std::string* text = ReadString(table, "layer", &node);
  if (text == nullptr) return;
  const std::optional<Layer> layer = FindLayer(*text);
  if (!layer) {
    return Wrong(At(node->source()), fmt::format("unknown layer '{}'; {}", Sanitize(*text),
                                                 Suggest(*text, {"threshold", "composite", "trend"})));
  }
  if (*layer != rule->layer) rule->test.reset();  // another layer's test means something else
  rule->layer = *layer;
}

void RuleFile::ReadTest(const toml::table& table, Rule* rule) {
  for (const char* key : {"when", "for", "window", "against"}) {
    const toml::node* node = table.get(key);
    if (node == nullptr) continue;
    const std::string_view k = key;
    const bool fits = k == "when"  ? rule->layer != Layer::kComposite
                      : k == "for" ? rule->layer == Layer::kThreshold
                                   : rule->layer == Layer::kTrend;
    if (fits) continue;
    const char* owner = k == "when" ? "threshold or trend" : k == "for" ? "threshold" : "trend";
    return Wrong(At(node->source()),
                 fmt::format("`{0}` belongs to a {1} rule; set layer, or leave `{0}` out", key, owner));
  }
  if (rule->layer == Layer::kComposite) return;
  MetricTest test = rule->test.value_or(MetricTest{});
  const toml::node* node = nullptr;
  if (const std::string* text = ReadString(table, "when", &node)) {
    TextError error = ParseMetricTest(*text, rule->layer, &test);
    if (!error.ok()) return Wrong(Within(*node, error.offset), std::move(error.message));
  }
  ReadDuration(table, "for", &test.for_s);
  ReadDuration(table, "window", &test.window_s);
  ReadDuration(table, "against", &test.against_s);
  rule->test = std::move(test);
}

void RuleFile::ReadCauses(const toml::table& table, Rule* rule) {
  const toml::node* list = table.get("cause");
  if (list == nullptr) return;
  if (list->as_array() == nullptr) return WrongType(*list, "cause", "written as [[rule.cause]], with double brackets");
  std::set<model::Cause> seen;
  for (const toml::node& item : *list->as_array()) {
    if (const toml::table* cause = item.as_table()) {
      ReadCause(*cause, &seen, rule);
    } else {
      WrongType(item, "cause", "written as [[rule.cause]], with double brackets");
    }
  }
}

void RuleFile::ReadCause(const toml::table& table, std::set<model::Cause>* seen, Rule* rule) {
  CheckKeys(table, CauseKeys(), "a cause");
  const toml::node* node = nullptr;
  const std::string* id = ReadString(table, "id", &node);
  if (id == nullptr) {
    if (table.get("id") == nullptr) Wrong(At(table.source()), "a cause needs id = \"...\"");
    return;
  }
  const std::vector<model::Cause>& allowed = CausesOf(rule->finding);
  Keys names;
  for (const model::Cause c : allowed) names.emplace_back(model::Name(c));
  const std::optional<model::Cause> cause = model::FindCause(*id);
  if (!cause || std::find(allowed.begin(), allowed.end(), *cause) == allowed.end()) {
    const std::string wrong =
        cause ? fmt::format("finding '{}' cannot have the cause '{}'", model::Name(rule->finding), *id)
              : fmt::format("unknown cause '{}'", Sanitize(*id));
    return Wrong(At(node->source()), fmt::format("{}; {}", wrong, names.empty() ? "it has none" : Suggest(*id, names)));
  }
  if (!seen->insert(*cause).second) {
    return Wrong(At(node->source()), fmt::format("cause '{}' stands twice in this rule; join the two", *id));
  }
  const auto known =
      std::find_if(rule->causes.begin(), rule->causes.end(), [&](const CauseRule& c) { return c.cause == *cause; });
  CauseRule merged = known != rule->causes.end() ? *known : CauseRule{};
  merged.cause = *cause;
  bool enabled = true;
  ReadBool(table, "enabled", &enabled);
  ReadConditions(table, "require", &merged.require);
  ReadConditions(table, "exclude", &merged.exclude);
  ReadEvidence(table, "support", &merged.support);
  ReadEvidence(table, "contra", &merged.contra);
  ReadShare(table, "base", &merged.base);
  if (known != rule->causes.end()) {
    if (enabled) {
      *known = std::move(merged);
    } else {
      rule->causes.erase(known);
    }
  } else if (enabled) {
    rule->causes.push_back(std::move(merged));
  }
}

/// What only the whole, merged rule can tell.
void RuleFile::CheckRule(const toml::table& table, const Rule& rule) {
  const Place place = At(table.source());
  const bool has_when = rule.test && !rule.test->text.empty();
  if (rule.layer == Layer::kComposite && rule.require.empty()) {
    Wrong(place,
          fmt::format("rule '{}' requires nothing and would always fire; give it require = [\"...\"]", rule.name));
  }
  if (rule.layer == Layer::kThreshold && (!has_when || rule.test->for_s <= 0)) {
    Wrong(place, fmt::format("threshold rule '{}' needs {}", rule.name,
                             has_when ? "for = \"5m\"" : "when = \"sm_util < 30%\" and for = \"5m\""));
  }
  if (rule.layer == Layer::kTrend && (!has_when || rule.test->window_s <= 0 || rule.test->against_s <= 0)) {
    Wrong(place,
          fmt::format("trend rule '{}' needs when = \"sm_util falls 15%\", window = \"15m\" and against = \"15m\"",
                      rule.name));
  }
  const std::vector<model::Cause>& allowed = CausesOf(rule.finding);
  for (const CauseRule& c : rule.causes) {
    if (std::find(allowed.begin(), allowed.end(), c.cause) == allowed.end()) {
      Wrong(place, fmt::format("finding '{}' cannot have the cause '{}' that the rule had before; turn it off with "
                               "enabled = false in a [[rule.cause]]",
                               model::Name(rule.finding), model::Name(c.cause)));
    }
    CheckReach(place, fmt::format("cause '{}' of rule '{}'", model::Name(c.cause), rule.name), c.base, c.support,
               rule.score_min);
  }
  CheckReach(place, fmt::format("rule '{}'", rule.name), rule.base, rule.support, rule.score_min);
}

void RuleFile::CheckReach(Place place, std::string_view what, double base, const std::vector<Evidence>& support,
                          double score_min) {
  double most = base;
  for (const Evidence& e : support) most += e.weight;
  if (most >= score_min - 1e-9) return;
  Wrong(place,
        fmt::format("{} can never be told: base and all support make {}, and score_min is {}; raise base or a weight",
                    what, FormatFixed(most, 2), FormatFixed(score_min, 2)));
}

Result<RuleSet> RuleFile::Finish() && {
  if (errors_.empty()) return std::move(rules_);
  std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> lines;
  for (const auto& [place, message] : errors_) {
    lines.push_back(fmt::format("{}:{}:{}: {}", where_, place.line, place.column, message));
  }
  return Status::Invalid(Join(lines, "\n"));
}

}  // namespace

Result<RuleSet> ParseRules(std::string_view toml, const std::string& where, RuleSet base, bool built_in) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) {
    const Place place = At(parsed.error().source());
    return Status::Invalid(fmt::format("{}:{}:{}: this is not TOML: {}", where, place.line, place.column,
                                       Sanitize(parsed.error().description())));
  }
  RuleFile file(where, std::move(base), built_in);
  file.Read(parsed.table());
  return std::move(file).Finish();
}

}  // namespace sawbill::rules
