// SPDX-License-Identifier: Apache-2.0
#include "app/settings.h"

#include <algorithm>
#include <set>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr const char* kSystemConfig = "/etc/sawbill/sawbill.toml";

std::string Home(const Environment& env) { return env.Var("HOME").value_or(""); }

std::string UserConfig(const Environment& env) {
  if (const auto dir = env.Var("XDG_CONFIG_HOME")) return sys::JoinPath(*dir, "sawbill/sawbill.toml");
  const std::string home = Home(env);
  return home.empty() ? "" : sys::JoinPath(home, ".config/sawbill/sawbill.toml");
}

/// A value and where it was said, for errors.
struct Said {
  std::string value, where;
};

std::optional<Said> Pick(const std::optional<std::string>& flag, const char* flag_name, const Environment& env,
                         const char* variable, const std::optional<std::string>& config, const std::string& key) {
  if (flag) return Said{*flag, flag_name};
  if (const auto v = env.Var(variable)) return Said{*v, variable};
  if (config) return Said{*config, key};
  return std::nullopt;
}

Status Choose(const Said& said, const std::vector<std::string>& known, Lang lang, std::string* out) {
  if (std::find(known.begin(), known.end(), said.value) == known.end()) {
    const std::string near = Nearest(said.value, known);
    return Status::Invalid(Tr(lang, Msg::kAppBadChoice, said.where, said.value, Join(known, ", ")) +
                           (near.empty() ? "" : Tr(lang, Msg::kAppDidYouMean, near)));
  }
  *out = said.value;
  return Status::Ok();
}

Lang LocaleLang(const Environment& env) {
  const auto get = [&](const char* name) {
    const auto it = env.vars.find(name);
    return it == env.vars.end() ? nullptr : it->second.c_str();
  };
  return LangFromLocale(get("LC_ALL"), get("LC_MESSAGES"), get("LANG"));
}

Status ReadConfigFile(const std::string& path, const Environment& env, bool required, Lang lang, Config* config) {
  const auto bytes = env.fs->Map(path);
  if (!bytes.ok()) {
    if (required) return Status(bytes.status().kind(), Tr(lang, Msg::kAppNoConfig, bytes.status().message()));
    return bytes.status().kind() == StatusKind::kNotFound ? Status::Ok() : bytes.status();
  }
  return ReadConfig((*bytes)->bytes(), path, Home(env), config);
}

Status ResolveCurrency(const std::optional<Said>& said, Settings* s) {
  if (said) {
    std::string code(Trim(said->value));
    for (char& c : code) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    const bool sound =
        code.size() == 3 && std::all_of(code.begin(), code.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!sound) return Status::Invalid(Tr(s->lang, Msg::kAppBadCurrency, said->where, said->value));
    s->currency = code;
    return Status::Ok();
  }
  // Prices that all name one currency say in which the report is; --price amounts then are in it, too.
  std::set<std::string> named;
  for (const money::Price& p : s->prices.prices()) named.insert(p.currency);
  s->currency = named.size() == 1 ? *named.begin() : s->lang == Lang::kZh ? "CNY" : "USD";
  return Status::Ok();
}

Status AddPriceFile(const std::string& path, int layer, const Environment& env, Settings* s) {
  const auto bytes = env.fs->Map(path);
  if (!bytes.ok()) return Status(bytes.status().kind(), Tr(s->lang, Msg::kAppNoPrices, bytes.status().message()));
  return s->prices.AddToml((*bytes)->bytes(), path, layer);
}

/// A price for every card on the command line beats all files: what they say, in whatever currency, is no matter then.
void DropBeaten(money::PriceBook* book) {
  const auto& prices = book->prices();
  const bool all_beaten = std::any_of(prices.begin(), prices.end(),
                                      [](const money::Price& p) { return p.layer == 2 && p.selector_kind == "any"; });
  if (!all_beaten) return;
  money::PriceBook kept;
  for (const money::Price& p : prices) {
    if (p.layer == 2) kept.Add(p);
  }
  *book = std::move(kept);
}

Status ResolvePrices(const Options& o, const Environment& env, const Config& config, Settings* s) {
  for (const auto& text : config.price_texts) {
    SAWBILL_RETURN_IF_ERROR(s->prices.AddTomlEntries(
        text.text, text.where, text.currency.empty() ? config.currency.value_or("") : text.currency, 0));
  }
  std::vector<std::string> files = o.prices;
  if (files.empty()) {
    if (const auto v = env.Var("SAWBILL_PRICES")) files = {*v};
  }
  // A file that is named now stands in for those of the configuration.
  const int layer = files.empty() ? 0 : 1;
  if (files.empty() && config.prices) files = *config.prices;
  for (const std::string& path : files) SAWBILL_RETURN_IF_ERROR(AddPriceFile(path, layer, env, s));
  SAWBILL_RETURN_IF_ERROR(ResolveCurrency(
      Pick(o.currency, "--currency", env, "SAWBILL_CURRENCY", config.currency, config.Place("currency")), s));
  std::vector<std::string> amounts = o.price;
  const std::string where = amounts.empty() ? "SAWBILL_PRICE" : "--price";
  if (amounts.empty()) {
    if (const auto v = env.Var("SAWBILL_PRICE")) amounts = {*v};
  }
  for (const std::string& amount : amounts)
    SAWBILL_RETURN_IF_ERROR(s->prices.AddFlag(amount, s->currency, 2, s->lang, where));
  DropBeaten(&s->prices);
  return Status::Ok();
}

Status ResolvePeriod(const Options& o, Settings* s) {
  if (o.from) {
    SAWBILL_ASSIGN_OR_RETURN(s->from, ParseInstant("--from", *o.from, s->tz, false, s->lang));
  }
  if (o.to) {
    SAWBILL_ASSIGN_OR_RETURN(s->to, ParseInstant("--to", *o.to, s->tz, true, s->lang));
  }
  if (o.last) {
    SAWBILL_ASSIGN_OR_RETURN(s->last_ms, ParseLast(*o.last, s->lang));
  }
  if (s->last_ms && s->from) return Status::Invalid(std::string(Text(s->lang, Msg::kAppLastAndFrom)));
  if (s->from && s->to && *s->from >= *s->to) return Status::Invalid(Tr(s->lang, Msg::kAppFromAfterTo, *o.from, *o.to));
  return Status::Ok();
}

Status ResolveOutput(const Options& o, const Environment& env, const Config& config, Settings* s) {
  static const std::vector<std::string> keys = {"run", "user", "job", "project", "label",
                                                "gpu", "node", "day", "month"};
  if (o.by) SAWBILL_RETURN_IF_ERROR(Choose({*o.by, "--by"}, keys, s->lang, &s->by));
  if (o.format == "focus")
    return Status::Unsupported(Tr(s->lang, Msg::kAppNotInThisVersion, "--format focus") +
                               std::string(Text(s->lang, Msg::kAppInsteadCsv)));
  const bool short_list = o.command == "doctor" || o.command == "rules explain";
  const std::vector<std::string> formats = short_list ? std::vector<std::string>{"text", "json"}
                                                      : std::vector<std::string>{"text", "md", "html", "json", "csv"};
  if (o.format) SAWBILL_RETURN_IF_ERROR(Choose({*o.format, "--format"}, formats, s->lang, &s->format));
  std::string color = "auto";
  if (const auto said = Pick(o.color, "--color", env, "SAWBILL_COLOR", config.color, config.Place("color"))) {
    SAWBILL_RETURN_IF_ERROR(Choose(*said, {"auto", "always", "never"}, s->lang, &color));
  }
  const bool dumb = env.Var("TERM") == "dumb" || env.Var("NO_COLOR").has_value();
  s->color = color == "always" || (color == "auto" && env.out_is_terminal && !o.output && !dumb);
  s->unicode = !o.ascii && LocaleIsUtf8(env);
  s->all = o.all;
  s->columns = env.columns;
  return Status::Ok();
}

}  // namespace

bool LocaleIsUtf8(const Environment& env) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto value = env.Var(name)) {
      const std::string lower = ToLower(*value);
      return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    }
  }
  return false;
}

std::string DefaultDataDir(const Environment& env) {
  if (const auto dir = env.Var("XDG_STATE_HOME")) return sys::JoinPath(*dir, "sawbill");
  const std::string home = Home(env);
  return home.empty() ? "/var/lib/sawbill" : sys::JoinPath(home, ".local/state/sawbill");
}

Result<Config> LoadConfig(const Options& options, const Environment& env, Lang lang) {
  Config config;
  std::optional<std::string> only = options.config;
  if (!only) only = env.Var("SAWBILL_CONFIG");
  if (only) {
    SAWBILL_RETURN_IF_ERROR(ReadConfigFile(*only, env, true, lang, &config));
    return config;
  }
  SAWBILL_RETURN_IF_ERROR(ReadConfigFile(kSystemConfig, env, false, lang, &config));
  const std::string user = UserConfig(env);
  if (!user.empty()) SAWBILL_RETURN_IF_ERROR(ReadConfigFile(user, env, false, lang, &config));
  return config;
}

Lang EarlyLang(const std::vector<std::string>& args, const Environment& env) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto value = [&](const std::string& flag) -> std::optional<std::string> {
      if (args[i] == flag && i + 1 < args.size()) return args[i + 1];
      if (StartsWith(args[i], flag + "=")) return args[i].substr(flag.size() + 1);
      return std::nullopt;
    };
    if (const auto v = value("--lang"); v && ParseLang(*v)) return *ParseLang(*v);
    if (const auto v = value("--config")) options.config = v;
  }
  if (const auto v = env.Var("SAWBILL_LANG"); v && ParseLang(*v)) return *ParseLang(*v);
  const auto config = LoadConfig(options, env, LocaleLang(env));
  if (config.ok() && config->lang && ParseLang(*config->lang)) return *ParseLang(*config->lang);
  return LocaleLang(env);
}

Result<Settings> ResolveSettings(const Options& o, const Environment& env) {
  Settings s;
  s.lang = LocaleLang(env);
  SAWBILL_ASSIGN_OR_RETURN(const Config config, LoadConfig(o, env, s.lang));
  if (const auto said = Pick(o.lang, "--lang", env, "SAWBILL_LANG", config.lang, config.Place("lang"))) {
    std::string code;
    SAWBILL_RETURN_IF_ERROR(Choose(*said, {"en", "zh"}, s.lang, &code));
    s.lang = *ParseLang(code);
  }
  const Said tz = Pick(o.tz, "--tz", env, "SAWBILL_TZ", config.tz, config.Place("tz")).value_or(Said{"local", ""});
  if (const auto zone = TimeZone::Load(tz.value)) {
    s.tz = *zone;
  } else if (!tz.where.empty()) {
    return Status::Invalid(Tr(s.lang, Msg::kAppBadZone, tz.where, tz.value));
  }
  s.data_dir = Pick(o.data, "--data", env, "SAWBILL_DATA", config.data, config.Place("data"))
                   .value_or(Said{DefaultDataDir(env), ""})
                   .value;
  if (config.rules) s.rule_files = *config.rules;
  s.labels = config.labels;
  SAWBILL_RETURN_IF_ERROR(ResolvePeriod(o, &s));
  SAWBILL_RETURN_IF_ERROR(ResolvePrices(o, env, config, &s));
  SAWBILL_RETURN_IF_ERROR(ResolveOutput(o, env, config, &s));
  if (const auto said = Pick(o.min_saving, "--min-saving", env, "SAWBILL_MIN_SAVING", config.min_saving,
                             config.Place("min_saving"))) {
    SAWBILL_ASSIGN_OR_RETURN(s.min_saving, ParseMinSaving(said->where, said->value, s.lang));
  }
  if (o.fail_on_waste) {
    SAWBILL_ASSIGN_OR_RETURN(s.fail_on_waste, ParsePercent("--fail-on-waste", *o.fail_on_waste, s.lang));
  }
  return s;
}

}  // namespace sawbill::app
