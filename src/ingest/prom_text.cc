// SPDX-License-Identifier: Apache-2.0
// Pages of Prometheus text (dcgm-exporter, nvidia_gpu_exporter, all-smi, node_exporter, our own), one or many in a
// file, alone or inside a document. A page of an exporter carries no time: it stands in a line before the page (or
// behind it), in an HTTP header, on the samples, or, for a single page, is that of the file.
#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "ingest/printed_time.h"
#include "ingest/prom_formats.h"
#include "ingest/prom_series.h"
#include "prom/exposition.h"

namespace sawbill::ingest {
namespace {
using model::Odd;
using prom::LineKind;

/// A line that was put there to say when: "# scraped 2026-07-14T09:00:44Z", "--- Tue Jul 14 09:00:44 UTC 2026 ---",
/// "Date: Tue, 14 Jul 2026 09:00:44 GMT", "1763000000".
bool IsTimeLine(std::string_view line, PrintedTimes* times, TimeMs* t) {
  constexpr size_t kMost = 120;
  constexpr std::string_view kDecoration = "#=-*/<>[]() \t\r";
  if (line.size() > kMost || StartsWith(line, "# HELP") || StartsWith(line, "# TYPE")) return false;
  const size_t from = line.find_first_not_of(kDecoration), to = line.find_last_not_of(kDecoration);
  if (from == std::string_view::npos) return false;
  std::string_view text = line.substr(from, to - from + 1);
  if (ToLower(text.substr(0, 5)) == "date:") text = Trim(text.substr(5));
  if (text.size() < 8 || text.find_first_of("0123456789") == std::string_view::npos) return false;
  if (times->Parse(text, t)) return true;
  std::string_view before;
  return from > 0 && times->Find(text, t, &before);
}

class TextReader {
 public:
  TextReader(const ReadContext& context, model::Recording* out)
      : context_(context), out_(out), times_(context), series_(context, out) {}

  Status Read(sys::LineReader* lines, Explanation* explanation) {
    std::string_view line;
    while (lines->Next(&line)) {
      // NUL bytes come from a disk that was full or a machine that died; nothing of such a line is sound.
      const LineKind kind = prom::SplitPromLine(line, &split_);
      if (kind == LineKind::kSample) {
        TakeSample();
      } else if (kind != LineKind::kBlank) {
        TakeOther(kind, line, *lines);
      }
    }
    if (!lines->status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file);
    return Finish(explanation);
  }

 private:
  struct Known {
    std::string text;
    int series = -1;
    int next = -1;  // what followed it last time: pages repeat their order
  };
  static constexpr size_t kMostKnown = 200'000;

  int Find(std::string_view text) {
    const int guess = last_ < 0 ? -1 : known_[static_cast<size_t>(last_)].next;
    if (guess >= 0 && known_[static_cast<size_t>(guess)].text == text) return guess;
    int at = -1;
    if (const auto it = by_text_.find(text); it != by_text_.end()) {
      at = it->second;
    } else if (known_.size() < kMostKnown) {
      at = static_cast<int>(known_.size());
      known_.push_back({std::string(text), prom::ParseSeries(text, &name_) ? series_.Add(name_) : -1, -1});
      by_text_.emplace(known_.back().text, at);
    }
    if (last_ >= 0) known_[static_cast<size_t>(last_)].next = at;
    return at;
  }

  void TakeSample() {
    const int at = Find(split_.series);
    last_ = at;
    int series = -1;
    if (at >= 0) {
      series = known_[static_cast<size_t>(at)].series;
    } else if (prom::ParseSeries(split_.series, &name_)) {
      series = series_.Add(name_);
    }
    if (series < 0) return;
    ++samples_;
    if (split_.has_time) {
      ++timed_;
      series_.Put(series, prom::TimeMsOf(split_.time), split_.value);
      return;
    }
    // A page that begins as the one before did is another one, even if nothing stands between.
    if (page_open_ && at >= 0 && at == first_of_page_) page_open_ = false;
    if (!page_open_) {
      first_of_page_ = at;
      page_open_ = true;
      pages_.push_back(pending_);
      pending_ = INT64_MIN;
    }
    series_.Put(series, PromSeries::Page(pages_.size() - 1), split_.value);
  }

  void TakeOther(LineKind kind, std::string_view line, const sys::LineReader& lines) {
    if (kind == LineKind::kBadValue) return;  // "N/A": no reading
    TimeMs t = 0;
    if (IsTimeLine(line, &times_, &t)) {
      pending_ = t;
      page_open_ = false;
      return;
    }
    if (kind == LineKind::kComment) return;
    // The head and the foot of a page that a program cut in two.
    const bool torn = line.find("{") != std::string_view::npos && prom::IsKnownFamily(line);
    if (torn) out_->quality.Count(Odd::kTornLine, fmt::format("{}:{}", context_.file, lines.line_number()));
    ++other_;
  }

  /// When the time stands behind each page instead of before it.
  void TurnTimes() {
    if (pages_.empty() || pages_.front() != INT64_MIN || pending_ == INT64_MIN) return;
    pages_.erase(pages_.begin());
    pages_.push_back(pending_);
  }

  Status Finish(Explanation* explanation) {
    const Lang lang = context_.lang;
    TurnTimes();
    const bool any = std::any_of(pages_.begin(), pages_.end(), [](TimeMs t) { return t != INT64_MIN; });
    if (timed_ > 0) {
      explanation->time_format = Tr(lang, Msg::kIngestPromTimeOwn);
      explanation->zone = Tr(lang, Msg::kIngestZoneInFile);
    }
    if (any) {
      times_.Report(out_, explanation);
      explanation->time_format +=
          (explanation->time_format.empty() ? "" : "; ") + Tr(lang, Msg::kIngestPromTimeLines, pages_.size());
    } else if (pages_.size() == 1 && context_.modified_ms > 0) {
      pages_[0] = context_.modified_ms;
      explanation->time_format = Tr(lang, Msg::kIngestPromTimeFile);
      explanation->zone = "UTC";
      out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteTimeFile, FormatRfc3339(context_.modified_ms)));
    } else if (!pages_.empty() && timed_ == 0) {
      return Status::Unsupported(Tr(lang, Msg::kIngestPromNoTime, context_.file, pages_.size()));
    }
    const int64_t lost = series_.Settle(pages_);
    if (lost > 0) out_->quality.Count(Odd::kBadRow, context_.file, lost);
    if (pages_.size() == 1 && timed_ == 0) out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteMoment));
    if (other_ > 0) out_->quality.Count(Odd::kForeignText, context_.file, other_);
    if (other_ * 4 > samples_) out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteMixed, other_));
    return series_.Finish(explanation);
  }

  const ReadContext& context_;
  model::Recording* const out_;
  PrintedTimes times_;
  PromSeries series_;
  prom::PromLine split_;
  prom::SeriesName name_;
  std::deque<Known> known_;  // by_text_ points into it
  std::unordered_map<std::string_view, int> by_text_;
  std::vector<TimeMs> pages_;  // INT64_MIN = not told
  TimeMs pending_ = INT64_MIN;
  int last_ = -1, first_of_page_ = -1;
  bool page_open_ = false;
  int64_t samples_ = 0, timed_ = 0, other_ = 0;
};

class PrometheusTextFormat : public Format {
 public:
  std::string_view name() const override { return "prometheus text"; }

  double Certainty(std::string_view sample) const override {
    size_t known = 0, metrics = 0, meta = 0, other = 0;
    prom::PromLine split;
    const bool whole = sample.size() < kSampleBytes;
    while (!sample.empty()) {
      const size_t end = std::min(sample.find('\n'), sample.size());
      const std::string_view line = sample.substr(0, end);
      const bool cut = end == sample.size() && !whole;
      sample.remove_prefix(std::min(end + 1, sample.size()));
      if (cut) break;
      const LineKind kind = prom::SplitPromLine(line, &split);
      const std::string_view name = split.series.substr(0, split.series.find_first_of("{ \t"));
      if (kind == LineKind::kSample || kind == LineKind::kBadValue) ++metrics;
      if (kind == LineKind::kSample && prom::FindSeries(name) != nullptr) ++known;
      if (StartsWith(line, "# HELP ") || StartsWith(line, "# TYPE ")) ++meta;
      if (kind == LineKind::kOther) ++other;
    }
    const double all = static_cast<double>(metrics + meta + other);
    const double share = all > 0 ? static_cast<double>(metrics + meta) / all : 0;
    if (known > 0) return share >= 0.5 ? 0.9 + 0.08 * share : 0.6 + 0.4 * share;
    // Metrics of something else: worth saying so.
    return meta >= 2 && share > 0.8 ? 0.55 : 0;
  }

  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    TextReader reader(context, out);
    return reader.Read(lines, explanation);
  }
};

}  // namespace

const Format& PrometheusText() {
  static const PrometheusTextFormat format;
  return format;
}

}  // namespace sawbill::ingest
