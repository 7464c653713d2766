// SPDX-License-Identifier: Apache-2.0
// The options, judged: flag > environment SAWBILL_* > configuration file > default.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/environment.h"
#include "app/options.h"
#include "app/when.h"
#include "base/messages.h"
#include "money/price_book.h"

namespace sawbill::app {

struct Settings {
  Lang lang = Lang::kEn;
  TimeZone tz = TimeZone::Utc();
  std::string data_dir;
  std::optional<TimeMs> from, to, last_ms;
  bool whole_period = false;  // the period is from..to even where no sample reaches it
  std::string currency = "USD";
  money::PriceBook prices;
  MinSaving min_saving;
  std::optional<double> fail_on_waste;
  std::string by, format = "text";
  bool color = false, unicode = true, all = false;
  int columns = 80;
  std::vector<std::string> rule_files;
  std::map<std::string, std::string> labels;  // by uuid
};

/// The configuration files that are there (or the one that --config names, which must be).
Result<Config> LoadConfig(const Options& options, const Environment& env, Lang lang);
Result<Settings> ResolveSettings(const Options& options, const Environment& env);

/// The language before anything is parsed, for errors and help: --lang anywhere, SAWBILL_LANG, configuration, locale.
Lang EarlyLang(const std::vector<std::string>& args, const Environment& env);
/// The default of --data.
std::string DefaultDataDir(const Environment& env);
/// True when LC_ALL, LC_CTYPE or LANG (first that is set) names UTF-8.
bool LocaleIsUtf8(const Environment& env);

}  // namespace sawbill::app
