// SPDX-License-Identifier: Apache-2.0
#include "app/doctor.h"

#include "app/settings.h"
#include "base/numbers.h"
#include "base/text.h"
#include "host/host_reader.h"
#include "store/day_reader.h"

namespace sawbill::app {
namespace {

using Level = Check::Level;
constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

struct Examiner {
  const Options& options;
  Lang lang;
  Environment* env;

  std::string Say(Msg id) const { return std::string(Text(lang, id)); }

  Check Nvml() const {
    const auto why = env->load_library ? env->load_library(options.nvml.value_or(kNvmlLibrary))
                                       : std::optional<std::string>("not tried");
    if (!why) return {"nvml", Level::kOk, Tr(lang, Msg::kAppDocNvml, options.nvml.value_or(kNvmlLibrary)), ""};
    return {"nvml", Level::kMissing, Sanitize(*why), Say(Msg::kAppDocNvmlAdvice)};
  }

  Check Driver() const {
    const auto bytes = env->fs->Map("/proc/driver/nvidia/version");
    if (!bytes.ok()) return {"driver", Level::kMissing, Say(Msg::kAppDocNoDriver), Say(Msg::kAppDocNoDriverAdvice)};
    const std::string_view text = (*bytes)->bytes();
    return {"driver", Level::kOk, Sanitize(Trim(text.substr(0, text.find('\n')))), ""};
  }

  Check Devices() const {
    const auto list = env->fs->List("/dev");
    size_t cards = 0;
    bool control = false;
    if (list.ok()) {
      for (const sys::FileInfo& f : *list) {
        control = control || f.name == "nvidiactl";
        if (StartsWith(f.name, "nvidia") && f.name.size() > 6 &&
            f.name.find_first_not_of("0123456789", 6) == std::string::npos) {
          ++cards;
        }
      }
    }
    if (cards == 0) return {"devices", Level::kMissing, Say(Msg::kAppDocNoDevices), Say(Msg::kAppDocNoDevicesAdvice)};
    if (!control) return {"devices", Level::kWarn, Tr(lang, Msg::kAppDocDevices, cards), Say(Msg::kAppDocNoControl)};
    return {"devices", Level::kOk, Tr(lang, Msg::kAppDocDevices, cards), ""};
  }

  /// The folder itself, or the nearest one above it that is there.
  std::string Existing(std::string path) const {
    while (path != "/" && path != "." && !env->fs->Stat(path).ok()) path = sys::DirName(path);
    return path;
  }

  Check DataFolder(const std::string& dir) const {
    const std::string there = Existing(dir);
    const bool exists = env->fs->Stat(dir).ok();
    const std::string probe = sys::JoinPath(there, ".sawbill-doctor");
    const Status written = env->fs->WriteAtomically(probe, "");
    if (!written.ok()) {
      return {"data-folder", Level::kMissing, written.message(), Say(Msg::kAppDocDataAdvice)};
    }
    // A probe that cannot be taken back is harmless and empty; the write was what counts.
    if (const Status removed = env->fs->Remove(probe); !removed.ok()) {
      return {"data-folder", Level::kWarn, removed.message(), ""};
    }
    if (!exists) return {"data-folder", Level::kOk, Tr(lang, Msg::kAppDocDataNew, dir), ""};
    if (!store::IsDataFolder(env->fs, dir))
      return {"data-folder", Level::kOk, Tr(lang, Msg::kAppDocDataEmpty, dir), ""};
    return {"data-folder", Level::kOk, Tr(lang, Msg::kAppDocData, dir), ""};
  }

  Check DataDisk(const std::string& dir) const {
    const std::string kind = env->fs->NetworkFileSystem(Existing(dir));
    if (kind.empty()) return {"data-disk", Level::kOk, Say(Msg::kAppDocLocalDisk), ""};
    return {"data-disk", Level::kWarn, Tr(lang, Msg::kAppDocNetworkDisk, kind), Say(Msg::kAppDocNetworkDiskAdvice)};
  }

  Check CpuCores() const {
    const auto files = env->make_proc_files ? env->make_proc_files() : nullptr;
    const host::Allowance cores = files ? host::ReadAllowance(files.get(), "self") : host::Allowance{};
    if (cores.cores <= 0) return {"cores", Level::kWarn, Say(Msg::kAppDocNoCores), ""};
    const std::string allowed = FormatShortest(cores.cores), all = FormatShortest(cores.host_cores);
    if (cores.cores < cores.host_cores) {
      return {"cores", Level::kOk, Tr(lang, Msg::kAppDocFewCores, allowed, all),
              Tr(lang, Msg::kAppDocFewCoresAdvice, allowed)};
    }
    return {"cores", Level::kOk, Tr(lang, Msg::kAppDocCores, allowed), ""};
  }

  Check TzData() const {
    if (TimeZone::Load("Asia/Shanghai")) return {"tzdata", Level::kOk, Say(Msg::kAppDocTz), ""};
    return {"tzdata", Level::kWarn, Say(Msg::kAppDocNoTz), Say(Msg::kAppDocNoTzAdvice)};
  }

  Check Locale() const {
    if (LocaleIsUtf8(*env)) return {"locale", Level::kOk, Tr(lang, Msg::kAppDocLocale, LangCode(lang)), ""};
    return {"locale", Level::kWarn, Say(Msg::kAppDocNoUtf8), Say(Msg::kAppDocNoUtf8Advice)};
  }

  Check Terminal() const {
    if (!env->out_is_terminal) return {"terminal", Level::kOk, Say(Msg::kAppDocNoTerminal), ""};
    return {"terminal", env->columns < 60 ? Level::kWarn : Level::kOk, Tr(lang, Msg::kAppDocTerminal, env->columns),
            env->columns < 60 ? Say(Msg::kAppDocNarrow) : ""};
  }

  Check Configuration(std::string* data_dir) const {
    const auto settings = ResolveSettings(options, *env);
    if (!settings.ok()) {
      *data_dir = options.data.value_or(env->Var("SAWBILL_DATA").value_or(DefaultDataDir(*env)));
      return {"config", Level::kMissing, settings.status().message(), Say(Msg::kAppDocConfigAdvice), true};
    }
    *data_dir = settings->data_dir;
    return {"config", Level::kOk, Tr(lang, Msg::kAppDocConfig, settings->prices.prices().size()), ""};
  }
};

}  // namespace

const char* Name(Check::Level level) { return level == Level::kOk ? "ok" : level == Level::kWarn ? "warn" : "missing"; }

std::vector<std::string> CheckIds() {
  return {"nvml",      "driver", "devices", "cards",  "profiling", "recorder", "data-folder",
          "data-disk", "cores",  "tzdata",  "locale", "terminal",  "config"};
}

std::vector<Check> Examine(const Options& options, Lang lang, Environment* env) {
  const Examiner e{options, lang, env};
  std::string data_dir;
  Check config = e.Configuration(&data_dir);
  std::vector<Check> out = {e.Nvml(), e.Driver(), e.Devices()};
  for (Check& c : ExamineCards(options, data_dir, lang, env)) out.push_back(std::move(c));
  for (Check c : {e.DataFolder(data_dir), e.DataDisk(data_dir), e.CpuCores(), e.TzData(), e.Locale(), e.Terminal(),
                  std::move(config)}) {
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace sawbill::app
