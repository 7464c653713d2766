// SPDX-License-Identifier: Apache-2.0
//
// Written from gpustat's source (1.2, core.py); no file of our own: unverified.
//   {"hostname": "n1", "driver_version": "580.1", "query_time": "2026-01-02T03:04:05.678901", "gpus": [
//     {"index": 0, "uuid": "GPU-..", "name": "..", "utilization.gpu": 91, "memory.used": 1835, ...,
//      "processes": [{"username": "ann", "command": "python", "pid": 7, "gpu_memory_usage": 1826,
//      "cpu_percent": 98.4}]}]}
// query_time is local time without a zone. null is "not supported". cpu_percent is of the process alone, in percent of
// one core. Keys may come in any order (they do below Python 3.6), so a document is judged when it is whole.
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/gpustat.h"
#include "ingest/json_feed.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;

constexpr size_t kMostCards = 4096, kMostText = 128;

struct Process {
  int64_t pid = -1;
  std::string user, command;
  double memory_mb = kMissing, cpu_percent = kMissing;
};
struct Card {
  model::CardInfo info;
  double util = kMissing, temp = kMissing, power = kMissing, used = kMissing;
  std::vector<Process> processes;
};

class Documents : public JsonEvents {
 public:
  Documents(sys::LineReader* lines, const ReadContext& context, model::Recording* out)
      : lines_(*lines),
        context_(context),
        out_(out),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context) {}
  Status Read(std::string_view name, Explanation* explanation);

  void Open(std::string_view key, bool array) override;
  void Close() override;
  void Number(std::string_view key, double value) override;
  void Text(std::string_view key, std::string_view value) override;
  void Nothing(std::string_view key) override;
  void Broken() override;

 private:
  enum class Place { kOther, kDocument, kCards, kCard, kProcesses, kProcess };
  Place place() const { return places_.empty() ? Place::kOther : places_.back(); }
  void Begin();
  void Flush();

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  std::vector<Place> places_;
  std::string node_, driver_, time_;
  std::vector<Card> cards_;
  int64_t documents_ = 0, undated_ = 0;
};

void Documents::Begin() {
  node_.clear();
  driver_.clear();
  time_.clear();
  cards_.clear();
}

void Documents::Broken() {
  places_.clear();
  Begin();
}

void Documents::Open(std::string_view key, bool array) {
  const Place outer = place();
  Place now = Place::kOther;
  // An array around all documents (a service that collected them) changes nothing: objects in it are documents.
  const bool top = places_.empty() || (outer == Place::kOther && places_.size() == 1);
  if (!array && top) {
    now = Place::kDocument;
    Begin();
  } else if (array && outer == Place::kDocument && key == "gpus") {
    now = Place::kCards;
  } else if (!array && outer == Place::kCards && cards_.size() < kMostCards) {
    now = Place::kCard;
    cards_.emplace_back();
  } else if (array && outer == Place::kCard && key == "processes") {
    now = Place::kProcesses;
  } else if (!array && outer == Place::kProcesses && cards_.back().processes.size() < kMostCards) {
    now = Place::kProcess;
    cards_.back().processes.emplace_back();
  }
  places_.push_back(now);
}

void Documents::Close() {
  if (places_.empty()) return;
  const Place closed = place();
  places_.pop_back();
  if (closed == Place::kDocument) Flush();
}

void Documents::Number(std::string_view key, double value) {
  if (place() == Place::kProcess) {
    Process& p = cards_.back().processes.back();
    if (key == "pid" && value >= 0 && value < 4294967296.0) p.pid = static_cast<int64_t>(value);
    if (key == "gpu_memory_usage") p.memory_mb = value;
    if (key == "cpu_percent") p.cpu_percent = value;
    return;
  }
  if (place() != Place::kCard) return;
  Card& c = cards_.back();
  if (key == "index" && value >= 0 && value < 4096) c.info.gpu = std::to_string(static_cast<int>(value));
  if (key == "utilization.gpu") c.util = value;
  if (key == "temperature.gpu") c.temp = value;
  if (key == "power.draw") c.power = value;
  if (key == "memory.used") c.used = value;
  if (key == "memory.total" && value > 0 && value <= 4e6) c.info.memory_total_mb = value;
  if (key == "enforced.power.limit" && value > 0 && value <= 3000) c.info.power_limit_w = value;
}

void Documents::Text(std::string_view key, std::string_view value) {
  value = value.substr(0, kMostText);
  if (place() == Place::kDocument) {
    if (key == "hostname") node_.assign(value);
    if (key == "driver_version") driver_.assign(value);
    if (key == "query_time") time_.assign(value);
  } else if (place() == Place::kCard) {
    if (key == "uuid") cards_.back().info.uuid.assign(value);
    if (key == "name") cards_.back().info.name.assign(value);
  } else if (place() == Place::kProcess) {
    if (key == "username") cards_.back().processes.back().user.assign(value);
    if (key == "command") cards_.back().processes.back().command.assign(value);
  }
}

void Documents::Nothing(std::string_view key) {
  if (place() != Place::kCard) return;
  for (const std::string_view reading : {"utilization.gpu", "temperature.gpu", "power.draw", "memory.used"}) {
    if (key == reading) tally_.Count(Odd::kNotSupported);
  }
}

void Documents::Flush() {
  TimeMs t = 0;
  if (time_.empty() || !times_.Parse(time_, &t)) {
    if (!cards_.empty()) ++undated_;
    return;
  }
  ++documents_;
  for (Card& c : cards_) {
    if (c.info.gpu.empty() || samples_.cards() >= kMostCards) {
      tally_.Count(Odd::kBadRow);
      continue;
    }
    c.info.node = node_;
    c.info.driver = driver_;
    const int card = samples_.Card(c.info);
    samples_.Touch(card, t);
    samples_.Set(card, t, GpuMetric::kSmUtil, c.util);
    samples_.Set(card, t, GpuMetric::kTempC, c.temp);
    samples_.Set(card, t, GpuMetric::kPowerW, c.power);
    samples_.Set(card, t, GpuMetric::kMemUsedMb, c.used);
    for (const Process& p : c.processes) {
      if (p.pid < 0) continue;
      model::ProcessValues values;
      values.fill(kMissing);
      values[static_cast<size_t>(ProcessMetric::kGpuMemMb)] = p.memory_mb;
      values[static_cast<size_t>(ProcessMetric::kMainCpuCores)] = p.cpu_percent / 100;
      samples_.Process(t, card, node_, p.pid, ProcessName(p.command), p.user, values);
    }
  }
  Begin();
}

Status Documents::Read(std::string_view name, Explanation* explanation) {
  JsonFeed feed(this);
  std::string_view line;
  while (lines_.Next(&line)) feed.Line(line);
  feed.End();
  if (feed.broken() > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": broken JSON", feed.broken());
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  ExplainFixed({{"query_time", "timestamp", ""},
                {"utilization.gpu", "sm_util", "%"},
                {"memory.used", "mem_used_mb", "MiB"},
                {"temperature.gpu", "temp_c", "C"},
                {"power.draw", "power_w", "W"},
                {"processes", "processes", ""}},
               context_, explanation);
  times_.Report(out_, explanation);
  if (documents_ == 0 && undated_ > 0) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoDates, context_.file, "gpustat", "`gpustat --json`"));
  }
  if (samples_.cards() == 0) return NothingRead(name, context_, out_->quality);
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "uuid", samples_.cards());
  return samples_.Finish(explanation);
}

class GpustatJsonFormat : public Format {
 public:
  std::string_view name() const override { return "gpustat json"; }
  double Certainty(std::string_view sample) const override {
    sample = Trim(sample);
    if (sample.empty() || (sample.front() != '{' && sample.front() != '[')) return 0;
    const auto has = [&](std::string_view key) { return sample.find(key) != std::string_view::npos; };
    if (!has("\"gpus\"") || !has("\"utilization.gpu\"")) return 0;
    return has("\"query_time\"") ? 0.97 : 0.6;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return Documents(lines, context, out).Read(name(), explanation);
  }
};

}  // namespace

const Format& GpustatJson() {
  static const GpustatJsonFormat format;
  return format;
}

}  // namespace sawbill::ingest
