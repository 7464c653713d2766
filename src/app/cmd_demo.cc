// SPDX-License-Identifier: Apache-2.0
// A receipt on a machine without a card: the simulated recording that is shipped, at a price that is said to be
// assumed.
#include "app/commands.h"
#include "app/pipeline.h"
#include "base/numbers.h"
#include "store/day_reader.h"

namespace sawbill::app {
namespace {

constexpr double kDemoPerHour = 10;

/// The places where the recording may lie, by how the program was installed.
std::vector<std::string> DemoPlaces(const Environment& env) {
  if (const auto dir = env.Var("SAWBILL_DEMO_DIR")) return {*dir};
  std::vector<std::string> places;
  if (!env.exe_path.empty()) {
    const std::string above = sys::DirName(sys::DirName(env.exe_path));  // of the folder that the program lies in
    places.push_back(sys::JoinPath(above, "examples/demo"));
    places.push_back(sys::JoinPath(sys::DirName(above), "examples/demo"));
    places.push_back(sys::JoinPath(above, "share/sawbill/demo"));
  }
  places.emplace_back("/usr/share/sawbill/demo");
  return places;
}

}  // namespace

int CmdDemo(const Options& options, const Settings& settings, Environment* env) {
  const std::vector<std::string> places = DemoPlaces(*env);
  for (const std::string& place : places) {
    if (!store::IsDataFolder(env->fs, place)) continue;
    Options demo = options;
    demo.files = {place};
    Settings with_price = settings;
    Note(env, Tr(settings.lang, Msg::kAppDemoSimulated, place));
    if (options.price.empty() && options.prices.empty()) {
      money::Price price;
      price.selector_kind = "any";
      price.per_hour = kDemoPerHour;
      price.currency = settings.currency;
      price.source = Text(settings.lang, Msg::kAppDemoSource);
      price.layer = 2;
      with_price.prices.Add(price);
      Note(env, Tr(settings.lang, Msg::kAppDemoPrice, FormatShortest(kDemoPerHour), settings.currency));
    }
    return ReportAll(demo, with_price, false, env);
  }
  std::string looked;
  for (const std::string& place : places) looked += "\n  " + place;
  return Fail(env, Status::NotFound(Tr(settings.lang, Msg::kAppNoDemo, looked)));
}

}  // namespace sawbill::app
