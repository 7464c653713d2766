// SPDX-License-Identifier: Apache-2.0
#include "simulator/write.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "base/status.h"
#include "model/metrics.h"

namespace sawbill::simulator {
namespace {
using model::GpuMetric;
using model::ProcessMetric;

template <typename Metric, size_t N>
std::string Header(std::string first) {
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = model::Info(static_cast<Metric>(i)).name;
    first += fmt::format(",{}", name);
  }
  return first + "\n";
}

void Cell(double v, int decimals, std::string* out) {
  out->push_back(',');
  if (decimals == 2 && v == std::floor(v)) decimals = 0;  // counts of cores, as the recorder writes them
  if (IsPresent(v)) fmt::format_to(std::back_inserter(*out), "{:.{}f}", v, decimals);
}

std::string Throttle(double v) {
  const auto mask = static_cast<unsigned>(v);
  std::string cell;
  for (unsigned bit = 0; bit < static_cast<unsigned>(model::ThrottleBit::kCount); ++bit) {
    if ((mask >> bit & 1U) == 0) continue;
    if (!cell.empty()) cell += '|';
    cell += model::Name(static_cast<model::ThrottleBit>(bit));
  }
  return cell.empty() ? "none" : cell;
}

TimeMs Instant(double t, TimeMs start_ms) { return start_ms + static_cast<TimeMs>(std::llround(t * 1000)); }
void Timestamp(TimeMs ms, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{}.{:03d}", ms / 1000, static_cast<int>(ms % 1000));
}

std::string Quoted(const std::string& s) { return "\"" + s + "\""; }
std::string List(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + Quoted(item);
  return "[" + out + "]";
}

/// Tenths of card-seconds by kind, rounded so that they add up to the whole (largest remainder).
std::map<std::string, long> Tenths(const World& world) {
  const auto seconds = world.Seconds();
  std::map<std::string, long> tenths;
  std::vector<std::pair<double, std::string>> remainders;
  long left = std::lround(10 * world.duration_s * static_cast<double>(world.cards.size()));
  for (size_t i = 0; i < kActivities; ++i) {
    if (seconds[i] <= 0) continue;
    const std::string name = Name(static_cast<Activity>(i));
    const double exact = 10 * seconds[i];
    tenths[name] = static_cast<long>(exact);
    left -= tenths[name];
    remainders.emplace_back(exact - std::floor(exact), name);
  }
  std::sort(remainders.rbegin(), remainders.rend());
  for (size_t i = 0; left > 0 && !remainders.empty(); ++i, --left) ++tenths[remainders[i % remainders.size()].second];
  return tenths;
}

template <typename Rows, typename Append>
void DayFiles(const Rows& rows, const std::string& kind, const std::string& header, const WriteSpec& spec,
              Append append, std::vector<OutFile>* files) {
  std::map<std::string, std::string> days;
  for (const auto& row : rows) {
    std::string& text = days[FormatRfc3339(Instant(row.t, spec.start_ms)).substr(0, 10)];
    if (text.empty()) text = header;
    append(row, &text);
  }
  for (const auto& [day, text] : days) {
    const std::string name = fmt::format("{}-{}.csv", kind, day);
    if (spec.packing == Packing::kGzip) {
      files->push_back({name + ".gz", Gzip(text)});
    } else {
      files->push_back({name, text});
    }
  }
}
}  // namespace

std::string GpuHeader() { return Header<GpuMetric, model::kGpuMetrics>("timestamp,gpu"); }
std::string HostHeader() { return Header<model::HostMetric, model::kHostMetrics>("timestamp"); }
std::string ProcessHeader() { return Header<ProcessMetric, model::kProcessMetrics>("timestamp,gpu,pid,user,name,job"); }

void AppendRow(const GpuReading& r, TimeMs start_ms, std::string* out) {
  Timestamp(Instant(r.t, start_ms), out);
  fmt::format_to(std::back_inserter(*out), ",{}", r.gpu);
  for (size_t i = 0; i < model::kGpuMetrics; ++i) {
    if (static_cast<GpuMetric>(i) == GpuMetric::kThrottle && IsPresent(r.value[i])) {
      *out += "," + Throttle(r.value[i]);
    } else {
      Cell(r.value[i], model::Info(static_cast<GpuMetric>(i)).decimals, out);
    }
  }
  out->push_back('\n');
}

void AppendRow(const HostReading& r, TimeMs start_ms, std::string* out) {
  Timestamp(Instant(r.t, start_ms), out);
  for (size_t i = 0; i < model::kHostMetrics; ++i) {
    Cell(r.value[i], model::Info(static_cast<model::HostMetric>(i)).decimals, out);
  }
  out->push_back('\n');
}

void AppendRow(const ProcessReading& r, const World& world, TimeMs start_ms, std::string* out) {
  const Process& p = world.processes[r.process];
  Timestamp(Instant(r.t, start_ms), out);
  out->push_back(',');
  if (r.gpu >= 0) *out += fmt::format("{}", r.gpu);
  *out += fmt::format(",{},{},{},{}", p.pid, p.user, p.name, p.job);
  for (size_t i = 0; i < model::kProcessMetrics; ++i) {
    double v = r.value[i];
    if (static_cast<ProcessMetric>(i) == ProcessMetric::kStarted) v = std::floor(v + Seconds(start_ms));
    Cell(v, model::Info(static_cast<ProcessMetric>(i)).decimals, out);
  }
  out->push_back('\n');
}

std::string InventoryCsv(const CardModel& model, size_t cards, const WriteSpec& spec) {
  std::string text =
      "gpu,uuid,name,memory_total_mb,power_limit_w,driver,from,node,label,parent_uuid,share,sm_clock_max_mhz,util_"
      "window_s\n";
  for (size_t c = 0; c < cards; ++c) {
    text += fmt::format("{},GPU-5a3b111d-0000-4000-8000-{:012x},{},{:.0f},{:.0f},550.90.07,,,,,,{:.0f},{:.3f}\n", c, c,
                        model.name, model.memory_mb, model.limit_w * spec.power_limit_share, model.sm_max_mhz,
                        spec.util_window_s);
  }
  return text;
}

std::string TruthJson(const World& world, const CardModel& model, const Truth& truth, const WriteSpec& spec) {
  std::string kinds;
  for (const auto& [name, tenths] : Tenths(world)) {
    kinds += fmt::format("{}\n  {}: {}.{}", kinds.empty() ? "" : ",", Quoted(name), tenths / 10, tenths % 10);
  }
  std::string text = "{\n \"simulated\": true,\n";
  text += fmt::format(" \"scenario\": {},\n \"findings\": {},\n", Quoted(truth.scenario), List(truth.findings));
  if (!truth.also.empty()) text += fmt::format(" \"also\": {},\n", List(truth.also));
  if (!truth.not_allowed.empty()) text += fmt::format(" \"not_allowed\": {},\n", List(truth.not_allowed));
  if (truth.healthy) text += " \"healthy\": true,\n";
  if (!truth.cause.empty()) text += fmt::format(" \"cause\": {},\n", Quoted(truth.cause));
  if (!truth.note.empty()) text += fmt::format(" \"note\": {},\n", Quoted(truth.note));
  if (truth.workers) text += fmt::format(" \"workers\": {},\n", *truth.workers);
  if (truth.gpu) text += fmt::format(" \"gpu\": {},\n", *truth.gpu);
  if (truth.period_s) text += fmt::format(" \"period_s\": {:.1f},\n", *truth.period_s);
  text +=
      fmt::format(" \"card\": {},\n \"gpus\": {},\n \"duration_s\": {:.0f},\n \"price_per_gpu_hour\": {},\n",
                  Quoted(model.name), world.cards.size(), world.duration_s, FormatShortest(spec.price_per_gpu_hour));
  text += fmt::format(" \"gpu_seconds_by_kind\": {{{}\n }},\n", kinds);
  if (truth.speedup_if_fixed) text += fmt::format(" \"speedup_if_fixed\": {:.4f},\n", *truth.speedup_if_fixed);
  if (truth.saving_share) text += fmt::format(" \"saving_share\": {:.4f},\n", *truth.saving_share);
  if (!truth.saving_tier.empty()) text += fmt::format(" \"saving_tier\": {},\n", Quoted(truth.saving_tier));
  return text + fmt::format(" \"steps\": {}\n}}\n", world.steps);
}

std::vector<OutFile> Render(const World& world, const Readings& readings, const CardModel& model, const Truth& truth,
                            const WriteSpec& spec) {
  std::vector<OutFile> files;
  DayFiles(
      readings.gpu, "gpu", GpuHeader(), spec,
      [&](const GpuReading& r, std::string* out) { AppendRow(r, spec.start_ms, out); }, &files);
  DayFiles(
      readings.host, "host", HostHeader(), spec,
      [&](const HostReading& r, std::string* out) { AppendRow(r, spec.start_ms, out); }, &files);
  DayFiles(
      readings.process, "process", ProcessHeader(), spec,
      [&](const ProcessReading& r, std::string* out) { AppendRow(r, world, spec.start_ms, out); }, &files);
  files.push_back({"inventory.csv", InventoryCsv(model, world.cards.size(), spec)});
  files.push_back({"truth.json", TruthJson(world, model, truth, spec)});
  files.push_back(
      {"SIMULATED", fmt::format("This recording is simulated, not measured: sawbill-simulate scenario {}, seed {}.\n",
                                truth.scenario, spec.seed)});
  return files;
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  SAWBILL_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  gz_header header{};
  header.os = 255;  // unknown, so that the bytes do not depend on the system
  SAWBILL_CHECK(deflateSetHeader(&stream, &header) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  SAWBILL_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace sawbill::simulator
