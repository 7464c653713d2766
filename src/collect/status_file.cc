// SPDX-License-Identifier: Apache-2.0
// The only file of this room that includes nlohmann/json.
#include "collect/status_file.h"

#include <nlohmann/json.hpp>

namespace sawbill::collect {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "sawbill.collector/1";

template <typename T>
json OrNull(const std::optional<T>& v) {
  return v ? json(*v) : json(nullptr);
}

double PerTick(int64_t us, int64_t ticks) {
  return ticks > 0 ? static_cast<double>(us) / static_cast<double>(ticks) : 0;
}

gpu::Trouble TroubleOf(const std::string& name) {
  for (int k = 0; k < static_cast<int>(gpu::Trouble::kOther); ++k) {
    if (name == gpu::Name(static_cast<gpu::Trouble>(k))) return static_cast<gpu::Trouble>(k);
  }
  return gpu::Trouble::kOther;
}

std::optional<double> Number(const json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

}  // namespace

std::string StatusJson(const StatusFacts& f, const CollectorState& s) {
  json cards = json::array();
  for (const auto& c : s.cards) {
    cards.push_back({{"gpu", c.gpu}, {"uuid", c.uuid}, {"name", c.name}, {"trouble", c.trouble}});
  }
  json rss_mb;
  if (s.usage.rss_bytes) rss_mb = static_cast<double>(*s.usage.rss_bytes) / 1048576.0;
  const json out = {
      {"schema", kSchema},
      {"version", f.version},
      {"pid", f.pid},
      {"node", f.node},
      {"started", FormatRfc3339(f.started)},
      {"updated", FormatRfc3339(f.updated)},
      {"interval_s", f.interval_s},
      {"source",
       {{"name", s.source},
        {"driver", s.driver},
        {"open", s.open},
        {"trouble", gpu::Name(s.status.trouble)},
        {"code", s.status.code},
        {"detail", s.status.detail}}},
      {"paused", s.paused},
      {"history_paused", s.history_paused},
      {"history_trouble", s.history_trouble},
      {"cards", cards},
      {"runs", s.runs},
      {"ticks", s.ticks},
      {"lost_ticks", s.lost_ticks},
      {"process_every_s", static_cast<double>(s.process_every_ms) / 1000},
      {"stretch", s.stretch},
      {"own",
       {{"cpu_seconds", OrNull(s.usage.cpu_seconds)},
        {"cpu_share", OrNull(s.cpu_share)},
        {"rss_mb", rss_mb},
        {"open_fds", OrNull(s.usage.open_fds)},
        {"threads", s.threads}}},
      {"tick_us",
       {{"driver", PerTick(s.cost.driver_us, s.cost.ticks)},
        {"host", PerTick(s.cost.host_us, s.cost.ticks)},
        {"processes", PerTick(s.cost.processes_us, s.cost.ticks)},
        {"writing", PerTick(s.cost.writing_us, s.cost.ticks)}}},
  };
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<StatusSeen> ParseStatus(std::string_view text) {
  const json j = json::parse(text, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  StatusSeen s;
  const auto text_of = [](const json& from, const char* key) {
    const auto it = from.find(key);
    return it != from.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  if (text_of(j, "schema") != kSchema) return std::nullopt;
  const auto flag = [&](const char* key) { return j.contains(key) && j[key].is_boolean() && j[key].get<bool>(); };
  s.facts.pid = static_cast<int64_t>(Number(j, "pid").value_or(0));
  s.facts.version = text_of(j, "version");
  s.facts.node = text_of(j, "node");
  s.facts.started = ParseRfc3339(text_of(j, "started")).value_or(0);
  s.facts.updated = ParseRfc3339(text_of(j, "updated")).value_or(0);
  s.facts.interval_s = Number(j, "interval_s").value_or(1);
  s.paused = flag("paused");
  s.history_paused = flag("history_paused");
  s.ticks = static_cast<int64_t>(Number(j, "ticks").value_or(0));
  s.lost_ticks = static_cast<int64_t>(Number(j, "lost_ticks").value_or(0));
  s.stretch = static_cast<int64_t>(Number(j, "stretch").value_or(1));
  if (const auto source = j.find("source"); source != j.end() && source->is_object()) {
    s.source = text_of(*source, "name");
    s.driver = text_of(*source, "driver");
    s.source_status.trouble = TroubleOf(text_of(*source, "trouble"));
    s.source_status.code = static_cast<int>(Number(*source, "code").value_or(0));
    s.source_status.detail = text_of(*source, "detail");
    s.open = source->contains("open") && (*source)["open"].is_boolean() && (*source)["open"].get<bool>();
  }
  if (const auto own = j.find("own"); own != j.end() && own->is_object()) {
    s.cpu_share = Number(*own, "cpu_share");
    s.rss_mb = Number(*own, "rss_mb");
    if (const auto fds = Number(*own, "open_fds")) s.open_fds = static_cast<int64_t>(*fds);
  }
  if (const auto tick = j.find("tick_us"); tick != j.end() && tick->is_object()) {
    s.tick = {Number(*tick, "driver").value_or(0), Number(*tick, "host").value_or(0),
              Number(*tick, "processes").value_or(0), Number(*tick, "writing").value_or(0)};
  }
  if (const auto cards = j.find("cards"); cards != j.end() && cards->is_array()) {
    for (const json& c : *cards) {
      if (c.is_object())
        s.cards.push_back({text_of(c, "gpu"), text_of(c, "uuid"), text_of(c, "name"), text_of(c, "trouble")});
    }
  }
  return s;
}

}  // namespace sawbill::collect
