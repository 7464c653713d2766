// SPDX-License-Identifier: Apache-2.0
// What W&B's system-metric keys mean, and rows of them put into samples: shared by its CSV and its JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/messages.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {

struct WandbKey {
  enum class Kind { kLeftOut, kTime, kCard, kTotal, kLimit, kOwnCpu, kCoreCpu };
  Kind kind = Kind::kLeftOut;
  int gpu = -1;
  model::GpuMetric metric = model::GpuMetric::kSmUtil;
  double factor = 1;
  const char* taken_as = "";
  const char* unit = "";
  Msg how = Msg::kIngestHowUnknown;
  std::string run;  // of a chart's export, "run name - system/gpu.0.gpu"
};

/// "system.gpu.0.gpu", "system/gpu.0.gpu", "my run - system/gpu.0.gpu", "_timestamp", "Wall Time".
WandbKey ReadWandbKey(std::string_view key);

class WandbRows {
 public:
  WandbRows(const ReadContext& context, const sys::LineReader& lines, model::Recording* out)
      : context_(context), out_(out), tally_(context, lines, &out->quality), samples_(context, out), times_(context) {}

  void Time(TimeMs t) { t_ms_ = t, timed_ = true; }
  void Time(std::string_view text) { timed_ = times_.Parse(text, &t_ms_); }
  /// `node` tells runs apart where a file holds several; else "".
  void Value(const WandbKey& key, const std::string& node, double value);
  /// The same for a row that is known to be whole and whose time was given.
  void ValueOfWholeRow(const WandbKey& key, const std::string& node, double value);
  /// What was given since the last row becomes samples.
  void EndRow();
  void DropRow();
  Tally* tally() { return &tally_; }
  Status Finish(std::string_view name, Explanation* explanation);

 private:
  struct Reading {
    const WandbKey* key;
    const std::string* node;
    double value;
  };
  struct Cpu {
    const std::string* node;
    double own = kMissing, cores_sum = 0;
    int cores = 0;
  };
  int Card(const Reading& reading);
  void SetCpu(const Cpu& cpu);

  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  bool timed_ = false, own_cpu_ = false, set_ = false;
  TimeMs t_ms_ = 0;
  std::vector<Reading> row_;
  std::vector<Cpu> cpus_;
  struct Known {
    int gpu;
    std::string node;
    int card;
    bool total = false, limit = false;
  };
  std::vector<Known> cards_;
  size_t last_card_ = 0;
  int64_t rows_ = 0, undated_ = 0;
};

}  // namespace sawbill::ingest
