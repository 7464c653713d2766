// SPDX-License-Identifier: Apache-2.0
//
//   myhost                 Mon Jan  2 03:04:05 2026  580.95.05
//   [0] NVIDIA A40       | 27°C,   0 %,   22 / 300 W |     0 / 46068 MB | ann(1826M)
//
// Written from gpustat's source (1.2, core.py); no file of our own: unverified. The time is in the locale's notation
// (C, English, Chinese; "2026-01-02 03:04:05" on Windows) and stands only in the first line. With the fan shown its "%"
// stands before that of the utilisation, with codecs theirs stand in parentheses behind it. Processes carry no pid
// unless asked for, and are not read. Colours (--color, or `script`) are taken off.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/gpustat.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

constexpr size_t kMostCards = 4096;

/// "[12] NAME | ..."; the index, and what follows the bracket in *rest. -1 for other lines.
int64_t CardLine(std::string_view line, std::string_view* rest) {
  if (line.size() < 3 || line.front() != '[') return -1;
  const size_t close = line.find(']');
  if (close == std::string_view::npos || close > 5 || line.find('|', close) == std::string_view::npos) return -1;
  *rest = line.substr(close + 1);
  return WholeNumber(Trim(line.substr(1, close - 1)));
}

class TextLoop {
 public:
  TextLoop(sys::LineReader* lines, const ReadContext& context, model::Recording* out)
      : lines_(*lines),
        context_(context),
        out_(out),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context) {}
  Status Read(std::string_view name, Explanation* explanation);

 private:
  void Line(std::string_view line);
  int CardOf(int64_t index, std::string_view name, std::string_view total);
  void Card(int64_t index, std::string_view rest);
  void Loads(int card, std::string_view cell);

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  std::string buffer_, node_, driver_;
  std::vector<int> cards_;  // of node_, by index
  bool timed_ = false;
  TimeMs t_ms_ = 0;
  int64_t undated_ = 0;
};

/// "27°C,  30 %,   0 % (E: 0 %  D: 0 %),   22 / 300 W"
void TextLoop::Loads(int card, std::string_view cell) {
  std::string_view util;
  while (!cell.empty()) {
    const size_t comma = std::min(cell.find(','), cell.size());
    const std::string_view item = Trim(cell.substr(0, comma));
    cell.remove_prefix(std::min(comma + 1, cell.size()));
    std::string_view number = item;
    number = TakeWord(&number);
    if (number.empty()) continue;
    if (EndsWith(number, "C") && number.size() > 1) {
      // "27°C", "27'C" in older versions, "??°C".
      const size_t digits = std::min(number.find_first_not_of("0123456789-?"), number.size());
      samples_.Set(card, t_ms_, GpuMetric::kTempC, TakeReading(number.substr(0, digits), &tally_));
    } else if (item.find('%') != std::string_view::npos) {
      util = number;  // the last one: the fan stands before
    } else if (item.find('W') != std::string_view::npos || item.find('/') != std::string_view::npos) {
      samples_.Set(card, t_ms_, GpuMetric::kPowerW, TakeReading(number, &tally_));
    }
  }
  if (!util.empty()) samples_.Set(card, t_ms_, GpuMetric::kSmUtil, TakeReading(util, &tally_));
}

/// The card of an index on this node; its facts are read when it is seen first.
int TextLoop::CardOf(int64_t index, std::string_view name, std::string_view total) {
  const auto i = static_cast<size_t>(index);
  if (cards_.size() <= i) cards_.resize(i + 1, -1);
  if (cards_[i] >= 0 || samples_.cards() >= kMostCards) return cards_[i];
  model::CardInfo info;
  info.node = node_;
  info.driver = driver_;
  info.gpu = std::to_string(index);
  info.name = Trim(name).substr(0, 96);
  const double total_mb = TakeReading(TakeWord(&total), &tally_);
  if (total_mb > 0 && total_mb <= 4e6) info.memory_total_mb = total_mb;
  return cards_[i] = samples_.Card(info);
}

void TextLoop::Card(int64_t index, std::string_view rest) {
  if (!timed_) {
    ++undated_;
    return;
  }
  // NAME | loads | "  1835 / 46068 MB" | processes
  const size_t bar = rest.find('|'), second = rest.find('|', bar + 1);
  if (second == std::string_view::npos) return tally_.Count(Odd::kTornLine);
  const std::string_view memory = rest.substr(second + 1, rest.find('|', second + 1) - second - 1);
  const size_t slash = memory.find('/');
  if (slash == std::string_view::npos) return tally_.Count(Odd::kTornLine);
  const int card = index > 4095 ? -1 : CardOf(index, rest.substr(0, bar), memory.substr(slash + 1));
  if (card < 0) return tally_.Count(Odd::kBadRow);
  samples_.Touch(card, t_ms_);
  samples_.Set(card, t_ms_, GpuMetric::kMemUsedMb, TakeReading(memory.substr(0, slash), &tally_));
  Loads(card, rest.substr(bar + 1, second - bar - 1));
}

void TextLoop::Line(std::string_view line) {
  line = Trim(WithoutColours(line, &buffer_));
  if (line.empty()) return;
  std::string_view rest;
  const int64_t index = CardLine(line, &rest);
  if (index >= 0) return Card(index, rest);
  std::string_view before;
  TimeMs t = 0;
  if (times_.Find(line, &t, &before)) {
    timed_ = true;
    t_ms_ = t;
    if (node_ != before) cards_.clear();  // several machines in one file
    node_.assign(before.substr(0, 128));
    const std::string_view last = line.substr(line.rfind(' ') + 1);
    driver_ = last.find('.') != std::string_view::npos && last.size() < 24 ? std::string(last) : "";
    return;
  }
  // "├─ 12345 ( 98%, 1GB): python ..." of --show-full-cmd.
  if (!StartsWith(line, "├") && !StartsWith(line, "└")) tally_.Count(Odd::kForeignText);
}

Status TextLoop::Read(std::string_view name, Explanation* explanation) {
  std::string_view line;
  while (lines_.Next(&line)) Line(line);
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  ExplainFixed({{"temperature", "temp_c", "C"},
                {"utilization", "sm_util", "%"},
                {"power", "power_w", "W"},
                {"memory", "mem_used_mb", "MiB"}},
               context_, explanation);
  times_.Report(out_, explanation);
  if (samples_.cards() == 0 && undated_ > 0) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoDates, context_.file, "gpustat", "`gpustat --json`"));
  }
  if (samples_.cards() == 0) return NothingRead(name, context_, out_->quality);
  if (undated_ > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": row without a date", undated_);
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "[N]", samples_.cards());
  return samples_.Finish(explanation);
}

class GpustatTextFormat : public Format {
 public:
  std::string_view name() const override { return "gpustat text"; }
  double Certainty(std::string_view sample) const override {
    std::string buffer;
    int cards = 0, lines = 0;
    while (lines < 200 && !sample.empty()) {
      std::string_view line = sample.substr(0, sample.find('\n'));
      sample.remove_prefix(std::min(line.size() + 1, sample.size()));
      line = Trim(WithoutColours(line, &buffer));
      if (line.empty()) continue;
      ++lines;
      std::string_view rest;
      if (CardLine(line, &rest) < 0) continue;
      const bool memory = rest.find(" MB") != std::string_view::npos && rest.find(" / ") != std::string_view::npos;
      cards += memory && rest.find('%') != std::string_view::npos ? 1 : 0;
    }
    return cards * 4 >= lines && cards > 0 ? 0.95 : 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return TextLoop(lines, context, out).Read(name(), explanation);
  }
};

}  // namespace

const Format& GpustatText() {
  static const GpustatTextFormat format;
  return format;
}

}  // namespace sawbill::ingest
