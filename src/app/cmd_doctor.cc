// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/commands.h"
#include "app/doctor.h"
#include "app/json_text.h"
#include "app/pipeline.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr int kTextColumn = 22;

std::string AsText(const std::vector<Check>& checks, bool usable, Lang lang, int columns) {
  std::string out;
  columns = std::clamp(columns, 60, 100);
  for (const Check& c : checks) {
    std::string left = Pad(Name(c.level), 8) + Pad(c.id, kTextColumn - 8);
    for (const std::string* text : {&c.detail, &c.advice}) {
      if (text->empty()) continue;
      for (const std::string& line : Wrap((text == &c.advice ? "-> " : "") + *text, columns - kTextColumn)) {
        out += left + line + "\n";
        left = std::string(kTextColumn, ' ');
      }
    }
  }
  return out + "\n" + std::string(Text(lang, usable ? Msg::kAppDocUsable : Msg::kAppDocNotUsable)) + "\n";
}

std::string AsJson(const std::vector<Check>& checks, bool usable) {
  std::vector<std::string> rows;
  for (const Check& c : checks) {
    JsonObject row;
    row.AddText("id", c.id).AddText("status", Name(c.level)).AddText("detail", c.detail).AddText("advice", c.advice);
    rows.push_back(row.Print());
  }
  JsonObject o;
  o.AddText("schema", "sawbill.doctor/1")
      .AddText("version", SAWBILL_VERSION)
      .Add("usable_for_reports", JsonBool(usable));
  return o.Add("checks", JsonArray(rows)).Print() + "\n";
}

}  // namespace

int CmdDoctor(const Options& options, Lang lang, Environment* env) {
  const auto ids = CheckIds();
  for (const std::string& id : options.require) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      const std::string near = Nearest(id, ids);
      return Fail(env, Status::Invalid(Tr(lang, Msg::kAppBadChoice, "--require", id, Join(ids, ", ")) +
                                       (near.empty() ? "" : Tr(lang, Msg::kAppDidYouMean, near))));
    }
  }
  if (options.format && *options.format != "text" && *options.format != "json") {
    return Fail(env, Status::Invalid(Tr(lang, Msg::kAppBadChoice, "--format", *options.format, "text, json")));
  }
  const std::vector<Check> checks = Examine(options, lang, env);
  const bool usable = std::none_of(checks.begin(), checks.end(),
                                   [](const Check& c) { return c.for_reports && c.level == Check::Level::kMissing; });
  Settings settings;
  settings.lang = lang;
  const std::string text =
      options.format == "json" ? AsJson(checks, usable) : AsText(checks, usable, lang, env->columns);
  const Status delivered = Deliver(options, settings, text, env);
  if (!delivered.ok()) return Fail(env, delivered);
  int code = usable ? 0 : 2;
  for (const Check& c : checks) {
    const bool required = std::find(options.require.begin(), options.require.end(), c.id) != options.require.end();
    if (required && c.level == Check::Level::kMissing) {
      code = std::max(code, Fail(env, Status::Unavailable(Tr(lang, Msg::kAppDocRequired, c.id, c.detail))));
    }
  }
  return code;
}

}  // namespace sawbill::app
