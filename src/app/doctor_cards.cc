// SPDX-License-Identifier: Apache-2.0
// The checks that ask the driver itself: what `sawbill record` would read, tried once, and the recorders at work. A
// driver that does not answer is an answer, too.
#include <algorithm>
#include <map>

#include "app/doctor.h"
#include "app/recorder.h"
#include "base/numbers.h"
#include "base/text.h"
#include "collect/call_pool.h"
#include "sys/waiter.h"

namespace sawbill::app {
namespace {

using Level = Check::Level;
using std::chrono::seconds;

constexpr int kPatienceS = 15;

struct Seen {
  gpu::SourceStatus status;
  gpu::SourceInfo info;
  std::vector<gpu::Source::CardSlot> cards;
  std::vector<gpu::CardReading> readings;
};

/// On a thread that can be left behind; nothing = no answer.
std::optional<Seen> Ask(const std::shared_ptr<gpu::Source>& source) {
  collect::CallPool<Seen> pool(
      1,
      [source](size_t) {
        Seen s;
        s.status = source->Open();
        if (!s.status.ok()) return s;
        s.info = source->info();
        s.cards = source->cards();
        const int64_t now_us = sys::SteadyNowUs();
        for (size_t k = 0; k < s.cards.size(); ++k) {
          s.readings.push_back(s.cards[k].lost_code == 0 ? source->ReadQuick(k, now_us) : gpu::CardReading());
        }
        // GPM, links and the driver's samples tell of the time between two readings.
        sys::Waiter waiter({});
        waiter.Wait(sys::SteadyNowUs() + 250'000);
        for (size_t k = 0; k < s.cards.size(); ++k) {
          if (s.cards[k].lost_code == 0) s.readings[k] = source->ReadQuick(k, sys::SteadyNowUs());
        }
        s.info = source->info();
        source->Close();
        return s;
      },
      std::chrono::milliseconds(500));
  pool.Start(0);
  // Wait() gives up on a call that lasts; this one may take as long as a driver takes to wake up.
  sys::Waiter waiter({});
  const auto end = std::chrono::steady_clock::now() + seconds(kPatienceS);
  while (std::chrono::steady_clock::now() < end) {
    if (auto got = pool.Take(); !got.empty()) return std::move(got.front().second);
    waiter.Wait(sys::SteadyNowUs() + 20'000);
  }
  return std::nullopt;
}

/// "8 x NVIDIA H100 80GB HBM3".
std::string Models(const Seen& s) {
  std::map<std::string, int> count;
  for (const auto& c : s.cards) ++count[c.info.name.empty() ? "?" : c.info.name];
  std::vector<std::string> parts;
  for (const auto& [name, n] : count) parts.push_back(std::to_string(n) + " × " + Sanitize(name));
  return Join(parts, ", ");
}

Check Cards(const Seen& s, Lang lang) {
  std::string troubles;
  int fields = 0, asked = 0;
  for (size_t k = 0; k < s.cards.size(); ++k) {
    if (s.cards[k].lost_code != 0)
      troubles +=
          (troubles.empty() ? "" : "; ") + Tr(lang, Msg::kRecDocLost, s.cards[k].info.gpu, s.cards[k].lost_code);
    fields += s.readings[k].supported;
    asked += s.readings[k].asked;
  }
  const std::string detail = Tr(lang, Msg::kRecDocCards, Models(s), s.info.name, s.info.driver, fields, asked);
  if (fields == 0) return {"cards", Level::kWarn, detail, std::string(Text(lang, Msg::kRecDocNoFields))};
  return {"cards", troubles.empty() ? Level::kOk : Level::kWarn, detail, troubles};
}

Check Recorder(const std::string& data_dir, Lang lang, Environment* env) {
  const auto all = FindRecorders(data_dir, *env);
  if (all.empty()) return {"recorder", Level::kOk, Tr(lang, Msg::kRecDocNoRecorder, data_dir), ""};
  const auto& r = all.front();
  std::string detail =
      Tr(lang, Msg::kRecDocRecorder, r.facts.pid, FormatDuration(Seconds(env->now - r.facts.started), lang),
         r.cards.size(), r.ticks, r.lost_ticks);
  detail += " " + OwnCost(r, lang);
  if (r.paused) return {"recorder", Level::kWarn, detail, std::string(Text(lang, Msg::kRecDocPaused))};
  if (!r.source_status.ok()) return {"recorder", Level::kWarn, detail, gpu::Explain(r.source_status, lang)};
  std::string troubles;
  for (const auto& c : r.cards) {
    if (!c.trouble.empty()) troubles += (troubles.empty() ? "" : ", ") + Sanitize(c.gpu + ": " + c.trouble);
  }
  return {"recorder", troubles.empty() && !r.history_paused ? Level::kOk : Level::kWarn, detail, troubles};
}

}  // namespace

std::string OwnCost(const collect::StatusSeen& r, Lang lang) {
  const std::string rss_mb = r.rss_mb ? FormatFixed(*r.rss_mb, 1) : "-";
  const std::string fds = r.open_fds ? std::to_string(*r.open_fds) : "-";
  const auto us = [](double v) { return FormatFixed(v, 0); };
  if (!r.cpu_share)  // the first minute: a share is of the time between two looks
    return Tr(lang, Msg::kRecDocCostSoon, rss_mb, fds, us(r.tick.driver_us), us(r.tick.host_us),
              us(r.tick.processes_us), us(r.tick.writing_us));
  return Tr(lang, Msg::kRecDocCost, FormatFixed(100 * *r.cpu_share, 2), rss_mb, fds, us(r.tick.driver_us),
            us(r.tick.host_us), us(r.tick.processes_us), us(r.tick.writing_us));
}

std::vector<Check> ExamineCards(const Options& options, const std::string& data_dir, Lang lang, Environment* env) {
  if (!env->make_source) return {};
  std::vector<Check> out;
  const auto seen = Ask(env->make_source(options.nvml.value_or(""), options.dcgm.value_or("")));
  if (!seen) {
    out.push_back({"cards", Level::kMissing, Tr(lang, Msg::kRecDocNoAnswer, kPatienceS),
                   std::string(Text(lang, Msg::kRecDocNoAnswerAdvice))});
  } else if (!seen->status.ok()) {
    out.push_back({"cards", Level::kMissing, gpu::Explain(seen->status, lang), ""});
  } else {
    out.push_back(Cards(*seen, lang));
    out.push_back(seen->info.gpm ? Check{"profiling", Level::kOk, std::string(Text(lang, Msg::kRecDocGpm)), ""}
                                 : Check{"profiling", Level::kWarn, std::string(Text(lang, Msg::kRecDocNoGpm)),
                                         std::string(Text(lang, Msg::kRecDocNoGpmAdvice))});
  }
  out.push_back(Recorder(data_dir, lang, env));
  return out;
}

}  // namespace sawbill::app
