// SPDX-License-Identifier: Apache-2.0
//
//   {"Type":"gpu","Name":"gpu0","Dimension":"GPUUtilization","Value":8.0,"NodeId":"algo-1","Timestamp":1591160899.75}
//
// One reading a line, Unix seconds. GPUUtilization and GPUMemoryUtilization are NVML's utilization.gpu and .memory. CPU
// comes core by core; the host's is their mean, taken only at times at which every core that the file ever names was
// read, so that a torn line makes no other mean. What else the service records (I/O, network, memory) has been seen in
// no file, and is counted as unknown.
#include "ingest/sagemaker.h"

#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/json_feed.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;

constexpr size_t kMostCards = 4096;

class Metrics : public JsonEvents {
 public:
  Metrics(sys::LineReader* lines, const ReadContext& context, model::Recording* out)
      : lines_(*lines), context_(context), out_(out), tally_(context, *lines, &out->quality), samples_(context, out) {}
  Status Read(std::string_view name, Explanation* explanation);

  void Open(std::string_view key, bool array) override;
  void Close() override;
  void Number(std::string_view key, double value) override;
  void Text(std::string_view key, std::string_view value) override;
  void Nothing(std::string_view) override {}
  void Broken() override { depth_ = 0; }

 private:
  struct Cores {
    double sum = 0;
    int64_t count = 0;
  };
  struct Node {
    std::string name;
    std::vector<int> cards;
    std::set<int64_t> cores;
    std::map<TimeMs, Cores> cpu;
  };
  Node* NodeOf(const std::string& name);
  void Card(Node* node, TimeMs t, GpuMetric metric);
  void Reading();
  void Hosts();

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  int depth_ = 0;
  std::string name_, dimension_, node_;
  double value_ = kMissing, time_s_ = kMissing;
  std::vector<Node> nodes_;
  int64_t readings_ = 0;
};

void Metrics::Open(std::string_view, bool array) {
  if (depth_++ > 1 || array) return;
  name_.clear();
  dimension_.clear();
  node_.clear();
  value_ = time_s_ = kMissing;
}

void Metrics::Close() {
  --depth_;
  if (depth_ <= 1 && !dimension_.empty()) Reading();
  dimension_.clear();
}

void Metrics::Number(std::string_view key, double value) {
  if (key == "Value") value_ = value;
  if (key == "Timestamp") time_s_ = value;
}

void Metrics::Text(std::string_view key, std::string_view value) {
  value = value.substr(0, 128);
  if (key == "Name") name_.assign(value);
  if (key == "Dimension") dimension_.assign(value);
  if (key == "NodeId") node_.assign(value);
}

Metrics::Node* Metrics::NodeOf(const std::string& name) {
  for (Node& n : nodes_) {
    if (n.name == name) return &n;
  }
  if (nodes_.size() >= kMostCards) return nullptr;
  nodes_.emplace_back();
  nodes_.back().name = name;
  return &nodes_.back();
}

void Metrics::Card(Node* node, TimeMs t, GpuMetric metric) {
  const int64_t index = StartsWith(name_, "gpu") ? WholeNumber(std::string_view(name_).substr(3)) : -1;
  if (index < 0 || index >= static_cast<int64_t>(kMostCards)) return tally_.Count(Odd::kBadRow);
  const auto i = static_cast<size_t>(index);
  if (node->cards.size() <= i) node->cards.resize(i + 1, -1);
  if (node->cards[i] < 0) {
    if (samples_.cards() >= kMostCards) return tally_.Count(Odd::kBadRow);
    model::CardInfo card;
    card.node = node->name;
    card.gpu = std::to_string(index);
    node->cards[i] = samples_.Card(card);
  }
  samples_.Set(node->cards[i], t, metric, value_);
}

void Metrics::Reading() {
  if (!(time_s_ >= 1e9 && time_s_ < 1e11) || IsMissing(value_)) return tally_.Count(Odd::kBadRow);
  const auto t = static_cast<TimeMs>(std::llround(time_s_ * 1000));
  Node* node = NodeOf(node_);
  if (node == nullptr) return tally_.Count(Odd::kBadRow);
  ++readings_;
  if (dimension_ == "GPUUtilization") return Card(node, t, GpuMetric::kSmUtil);
  if (dimension_ == "GPUMemoryUtilization") return Card(node, t, GpuMetric::kMemUtil);
  const int64_t core = StartsWith(name_, "cpu") ? WholeNumber(std::string_view(name_).substr(3)) : -1;
  if (dimension_ != "CPUUtilization" || core < 0) {
    --readings_;
    return tally_.Count(Odd::kUnknownColumn);
  }
  if (!(value_ >= 0 && value_ <= 100.5)) return tally_.Count(Odd::kOutOfRange);
  node->cores.insert(core);
  Cores& at = node->cpu[t];
  at.sum += value_;
  ++at.count;
}

void Metrics::Hosts() {
  for (const Node& node : nodes_) {
    const auto all = static_cast<int64_t>(node.cores.size());
    if (all == 0) continue;
    const int host = samples_.Host(node.name);
    for (const auto& [t, cores] : node.cpu) {
      if (cores.count != all) continue;
      samples_.SetHost(host, t, HostMetric::kCpuUtil, cores.sum / static_cast<double>(all));
      samples_.SetHost(host, t, HostMetric::kCpuCount, static_cast<double>(all));
    }
  }
}

Status Metrics::Read(std::string_view name, Explanation* explanation) {
  JsonFeed feed(this);
  std::string_view line;
  while (lines_.Next(&line)) feed.Line(line);
  feed.End();
  if (feed.broken() > 0) out_->quality.Count(Odd::kTornLine, context_.file + ": broken JSON", feed.broken());
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  ExplainFixed({{"GPUUtilization", "sm_util", "%"},
                {"GPUMemoryUtilization", "mem_util", "%"},
                {"CPUUtilization", "cpu_util", "%"}},
               context_, explanation);
  explanation->time_format = "Unix s";
  explanation->zone = Tr(context_.lang, Msg::kIngestZoneInFile);
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "Name", samples_.cards());
  explanation->rows = readings_;
  if (readings_ == 0) return NothingRead(name, context_, out_->quality);
  Hosts();
  return samples_.Finish(explanation);
}

class SageMakerFormat : public Format {
 public:
  std::string_view name() const override { return "sagemaker metrics"; }
  double Certainty(std::string_view sample) const override {
    sample = Trim(sample);
    if (sample.empty() || (sample.front() != '{' && sample.front() != '[')) return 0;
    const auto has = [&](std::string_view key) { return sample.find(key) != std::string_view::npos; };
    return has("\"Dimension\"") && has("\"Timestamp\"") && has("\"Value\"") && has("Utilization\"") ? 0.97 : 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return Metrics(lines, context, out).Read(name(), explanation);
  }
};

class EventTimelineFormat : public Format {
 public:
  std::string_view name() const override { return "event timeline"; }
  double Certainty(std::string_view sample) const override {
    sample = Trim(sample);
    if (sample.empty() || (sample.front() != '{' && sample.front() != '[')) return 0;
    const auto has = [&](std::string_view key) { return sample.find(key) != std::string_view::npos; };
    return has("\"ph\":") && (has("\"ts\":") || has("\"process_name\"") || has("\"traceEvents\"")) ? 0.9 : 0;
  }
  Status Read(sys::LineReader*, const ReadContext& context, model::Recording*, Explanation*) const override {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestTimeline, context.file));
  }
};

}  // namespace

const Format& SageMakerMetrics() {
  static const SageMakerFormat format;
  return format;
}
const Format& EventTimeline() {
  static const EventTimelineFormat format;
  return format;
}

}  // namespace sawbill::ingest
