// SPDX-License-Identifier: Apache-2.0
// `--help`, printed from what the parser accepts. Two columns, wrapped by display width, so that Chinese lines up as
// well.
#include <algorithm>

#include "app/cli.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr int kMaxColumns = 100, kMinColumns = 40, kLeftColumns = 24;

/// "  LEFT   right right", the right side wrapped.
void AddRow(const std::string& left, const std::string& right, int columns, std::string* out) {
  std::string line = "  " + Pad(left, kLeftColumns - 2);
  if (DisplayWidth(left) > kLeftColumns - 4) {
    *out += "  " + left + "\n";
    line = std::string(kLeftColumns, ' ');
  }
  for (const std::string& part : Wrap(right, columns - kLeftColumns)) {
    *out += line + part + "\n";
    line = std::string(kLeftColumns, ' ');
  }
}

std::string FlagText(const FlagSpec& f) { return Join(f.names, ", ") + (f.value.empty() ? "" : " " + f.value); }

void AddFlags(const CommandSpec& c, int columns, std::string* out) {
  std::vector<std::string> groups;
  for (const FlagSpec& f : c.flags) {
    if (std::find(groups.begin(), groups.end(), f.group) == groups.end()) groups.push_back(f.group);
  }
  // The general flags (help among them, which the parser puts first) stand at the end.
  if (groups.size() > 1 && !c.flags.empty()) std::rotate(groups.begin(), groups.begin() + 1, groups.end());
  for (const std::string& group : groups) {
    *out += "\n" + group + "\n";
    for (const FlagSpec& f : c.flags) {
      if (f.group == group) AddRow(FlagText(f), f.help, columns, out);
    }
  }
}

std::string Usage(const CommandSpec& c) {
  std::string usage = c.path.empty() ? "sawbill" : "sawbill " + c.path;
  if (!c.subcommands.empty()) return usage + " " + (c.path.empty() ? "COMMAND" : "list|explain|check") + " ...";
  if (c.flags.size() > 4) usage += " [FLAGS]";
  for (const PositionalSpec& p : c.positionals) {
    const std::string name = p.name + (p.many ? "..." : "");
    usage += p.required ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::optional<Msg> Examples(const std::string& path) {
  if (path.empty()) return Msg::kAppExamplesRoot;
  if (path == "run") return Msg::kRecExamplesRun;
  if (path == "record") return Msg::kRecExamplesRecord;
  if (path == "pause") return Msg::kRecExamplesPause;
  if (path == "replay") return Msg::kRecExamplesReplay;
  if (path == "report") return Msg::kAppExamplesReport;
  if (path == "diagnose") return Msg::kAppExamplesDiagnose;
  if (path == "rules explain") return Msg::kAppExamplesExplain;
  if (path == "prices") return Msg::kAppExamplesPrices;
  if (path == "completion") return Msg::kAppExamplesCompletion;
  if (path == "doctor") return Msg::kAppExamplesDoctor;
  if (path == "demo") return Msg::kAppExamplesDemo;
  return std::nullopt;
}

void AddParagraph(std::string_view text, int columns, std::string* out) {
  for (const std::string& line : Wrap(text, columns)) *out += line + "\n";
}

void AddCommands(const CommandSpec& c, int columns, std::string* out) {
  for (const CommandSpec& sub : c.subcommands) {
    AddRow(c.path.empty() ? sub.path : sub.path.substr(c.path.size() + 1), sub.summary, columns, out);
  }
}

}  // namespace

std::string RenderHelp(const CommandSpec& root, const std::string& path, Lang lang, int columns) {
  const CommandSpec* found = FindCommand(root, path);
  const CommandSpec& c = found == nullptr ? root : *found;
  columns = std::clamp(columns, kMinColumns, kMaxColumns);
  std::string out;
  AddParagraph(c.path.empty() ? c.summary : "sawbill " + c.path + ": " + c.summary, columns, &out);
  out += "\n" + std::string(Text(lang, Msg::kAppUsage)) + "\n  " + Usage(c) + "\n";
  if (c.path.empty()) out += "\n" + std::string(Text(lang, Msg::kAppStartWith)) + "\n";
  if (!c.subcommands.empty()) {
    out += "\n" + std::string(Text(lang, Msg::kAppCommands)) + "\n";
    AddCommands(c, columns, &out);
  }
  if (c.path == "report" || c.path == "diagnose") {
    out += "\n";
    AddParagraph(Text(lang, Msg::kAppAboutFiles), columns, &out);
  }
  if (c.path == "run") {
    out += "\n";
    AddParagraph(Text(lang, Msg::kRecAboutRun), columns, &out);
  }
  AddFlags(c, columns, &out);
  if (const auto examples = Examples(c.path)) {
    out += "\n" + std::string(Text(lang, Msg::kAppExamples)) + "\n" + std::string(Text(lang, *examples)) + "\n";
  }
  if (c.path == "report") {
    out += "\n";
    AddParagraph(Text(lang, Msg::kAppAboutSettings), columns, &out);
  }
  if (c.path.empty()) {
    std::string planned;
    for (const PlannedCommand& p : PlannedCommands()) planned += std::string(planned.empty() ? "" : " ") + p.name;
    out += "\n";
    AddParagraph(Text(lang, Msg::kAppExitStatus), columns, &out);
    AddParagraph(Tr(lang, Msg::kAppPlanned, planned), columns, &out);
  }
  return out;
}

}  // namespace sawbill::app
