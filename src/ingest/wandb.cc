// SPDX-License-Identifier: Apache-2.0
#include "ingest/wandb.h"

#include <cmath>
#include <deque>
#include <set>

#include "base/text.h"
#include "ingest/json_feed.h"
#include "ingest/wandb_rows.h"
#include "ingest/wide_csv.h"

namespace sawbill::ingest {
namespace {
using model::Odd;
using Kind = WandbKey::Kind;

constexpr size_t kMostColumns = 20'000;

void Damaged(const sys::LineReader& lines, const ReadContext& context, model::Recording* out) {
  if (!lines.status().ok()) out->quality.Count(Odd::kDamagedFile, context.file + ": " + lines.status().message());
}

void Explain(const WandbKey& key, std::string_view heading, const ReadContext& context, Explanation* explanation) {
  if (explanation->columns.size() >= 500) return;
  ColumnTaken c;
  c.column = static_cast<int>(explanation->columns.size()) + 1;
  c.heading = Sanitize(heading);
  c.taken_as = key.taken_as;
  c.unit = key.unit;
  c.how = Tr(context.lang, key.how);
  explanation->columns.push_back(std::move(c));
}

Status ReadCsv(std::string_view name, sys::LineReader* lines, const ReadContext& context, model::Recording* out,
               Explanation* explanation) {
  std::string_view line;
  if (!lines->Next(&line)) return NothingRead(name, context, out->quality);
  const std::string heading_line(line);
  const std::vector<std::string> headings = WideHeadings(heading_line);
  if (headings.empty() || headings.size() > kMostColumns) return NothingRead(name, context, out->quality);
  std::vector<WandbKey> keys;
  std::set<std::string> runs;
  int time = -1;
  for (const std::string& h : headings) {
    keys.push_back(ReadWandbKey(h));
    if (keys.back().kind != Kind::kLeftOut && keys.back().kind != Kind::kTime) runs.insert(keys.back().run);
    if (keys.back().kind == Kind::kTime && time < 0) time = static_cast<int>(keys.size()) - 1;
    Explain(keys.back(), h, context, explanation);
  }
  // Runs may have been on one machine or on several: their cards are kept apart by the run's name.
  const std::string none;
  WandbRows rows(context, *lines, out);
  ReadWideRows(lines, headings.size(), heading_line, rows.tally(), [&](const auto& cells) {
    if (time >= 0) rows.Time(Unquote(cells[static_cast<size_t>(time)]));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].kind == Kind::kLeftOut || keys[i].kind == Kind::kTime) continue;
      rows.ValueOfWholeRow(keys[i], runs.size() > 1 ? keys[i].run : none, WideReading(cells[i], rows.tally()));
    }
    rows.EndRow();
  });
  Damaged(*lines, context, out);
  return rows.Finish(name, explanation);
}

/// Objects with "system.*" keys, each one row, at any depth. Keys come in the same order row after row, so the next
/// one is most often the one behind the last.
class JsonRows : public JsonEvents {
 public:
  JsonRows(WandbRows* rows, const ReadContext& context, Explanation* explanation)
      : rows_(*rows), context_(context), explanation_(explanation) {}
  void Open(std::string_view, bool) override { ++depth_; }
  void Close() override {
    // A row may hold objects of its own ("_wandb": {"runtime": 3}); it ends where its values stand.
    if (depth_ == row_depth_) {
      rows_.EndRow();
      row_depth_ = 0;
    }
    --depth_;
  }
  void Number(std::string_view name, double value) override {
    const WandbKey& key = KeyOf(name);
    if (key.kind != Kind::kLeftOut && row_depth_ == 0) row_depth_ = depth_;
    if (key.kind == Kind::kTime && value >= 1e9 && value < 1e14) {
      // Milliseconds where the log viewer's export has them.
      rows_.Time(static_cast<TimeMs>(std::llround(value < 1e11 ? value * 1000 : value)));
    }
    rows_.Value(key, none_, value);
  }
  void Text(std::string_view name, std::string_view value) override {
    if (KeyOf(name).kind != Kind::kTime) return;
    if (row_depth_ == 0) row_depth_ = depth_;
    rows_.Time(value);
  }
  void Nothing(std::string_view) override {}
  void Broken() override {
    depth_ = row_depth_ = 0;
    rows_.DropRow();
  }

 private:
  struct Known {
    std::string name;
    WandbKey key;
  };
  const WandbKey& KeyOf(std::string_view name) {
    if (next_ < known_.size() && known_[next_].name == name) return known_[next_++].key;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].name != name) continue;
      next_ = i + 1;
      return known_[i].key;
    }
    if (known_.size() >= kMostKeys) return left_out_;
    known_.push_back({std::string(name), ReadWandbKey(name)});
    next_ = known_.size();
    Explain(known_.back().key, name, context_, explanation_);
    return known_.back().key;
  }
  static constexpr size_t kMostKeys = 2048;

  WandbRows& rows_;
  const ReadContext& context_;
  Explanation* const explanation_;
  std::deque<Known> known_;  // rows point at its keys
  size_t next_ = 0;
  int depth_ = 0, row_depth_ = 0;
  const WandbKey left_out_;
  const std::string none_;
};

class WandbCsvFormat : public Format {
 public:
  std::string_view name() const override { return "wandb csv"; }
  double Certainty(std::string_view sample) const override {
    const std::string_view head = sample.substr(0, sample.find('\n'));
    const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
    if (!has(",") || head.front() == '{' || head.front() == '[') return 0;
    return has("system.gpu.") || has("system/gpu.") || has("system.cpu") || has("system/cpu") ? 0.97 : 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return ReadCsv(name(), lines, context, out, explanation);
  }
};

class WandbJsonFormat : public Format {
 public:
  std::string_view name() const override { return "wandb json"; }
  double Certainty(std::string_view sample) const override {
    sample = Trim(sample);
    if (sample.empty() || (sample.front() != '{' && sample.front() != '[')) return 0;
    const auto has = [&](std::string_view key) { return sample.find(key) != std::string_view::npos; };
    return has("\"system.gpu.") || has("\"system/gpu.") || (has("\"system.cpu\"") && has("\"_timestamp\"")) ? 0.97 : 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    WandbRows rows(context, *lines, out);
    JsonRows events(&rows, context, explanation);
    JsonFeed feed(&events);
    std::string_view line;
    while (lines->Next(&line)) feed.Line(line);
    feed.End();
    if (feed.broken() > 0) out->quality.Count(Odd::kTornLine, context.file + ": broken JSON", feed.broken());
    Damaged(*lines, context, out);
    return rows.Finish(name(), explanation);
  }
};

}  // namespace

const Format& WandbCsv() {
  static const WandbCsvFormat format;
  return format;
}
const Format& WandbJson() {
  static const WandbJsonFormat format;
  return format;
}

}  // namespace sawbill::ingest
