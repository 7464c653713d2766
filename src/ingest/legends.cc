// SPDX-License-Identifier: Apache-2.0
//
// What a legend tells
// -------------------
// Grafana names an exported series by its legend. Left alone that is the series itself, DCGM_FI_DEV_GPU_UTIL{gpu="0",
// Hostname="n1"}: metric and card for certain. A legend format of one's own may keep the metric ("{{__name__}} GPU
// {{gpu}}") or drop it: "GPU 0". The usual dashboard of dcgm-exporter has "GPU 0" under utilisation, under tensor
// activity (percent as well), under memory, power and temperature, so nothing in such a file says what it holds. It is
// never guessed. A function such as avg() drops the metric too, and leaves {gpu="0"}.
#include "ingest/legends.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/fields.h"
#include "ingest/words.h"
#include "model/metrics.h"
#include "prom/labels.h"
#include "prom/series_table.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kHeadingWithin = 50;  // lines
constexpr size_t kRowsLookedAt = 20;

std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Quotes inside a quoted cell are doubled.
std::string PlainCell(std::string_view cell) {
  std::string out;
  cell = Unquote(cell);
  for (size_t i = 0; i < cell.size(); ++i) {
    out += cell[i];
    if (cell[i] == '"' && i + 1 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return out;
}

bool IsCardNumber(std::string_view s) { return s.size() <= 3 && WholeNumber(s) >= 0; }

/// "gpu0", "GPU:0", "card0"; or "0" behind such a word.
bool TakeCardWord(std::string_view word, std::string* gpu) {
  const std::string lower = ToLower(word);
  for (const std::string_view name : {"gpu", "card", "device", "nvidia", "cuda"}) {
    if (!StartsWith(lower, name)) continue;
    std::string_view rest = word.substr(name.size());
    if (!rest.empty() && std::string_view(":#-_").find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
    gpu->assign(rest);
    return rest.empty() || IsCardNumber(rest);
  }
  return false;
}

/// The card that the words of a legend name: {gpu="0"}, "GPU 0", "n1 GPU 0", "n1:0", a uuid.
std::optional<prom::CardLabels> CardOf(std::string_view text) {
  text = Trim(text);
  prom::CardLabels card;
  if (StartsWith(text, "{")) {
    prom::SeriesName series;
    if (!prom::ParseSeries("x" + std::string(text), &series)) return std::nullopt;
    card = prom::ReadCardLabels(series);
    return card.names_card() && !card.instance ? std::optional(card) : std::nullopt;
  }
  std::vector<std::string_view> words;
  for (std::string_view w = TakeWord(&text); !w.empty(); w = TakeWord(&text)) words.push_back(w);
  if (words.empty() || words.size() > 3) return std::nullopt;
  const std::string_view last = words.back();
  if (StartsWith(last, "GPU-") && last.size() == 40) {
    card.uuid.assign(last);
    words.pop_back();
  } else if (words.size() >= 2 && IsCardNumber(last) && TakeCardWord(words[words.size() - 2], &card.gpu) &&
             card.gpu.empty()) {
    card.gpu.assign(last);
    words.resize(words.size() - 2);
  } else if (TakeCardWord(last, &card.gpu) && !card.gpu.empty()) {
    words.pop_back();
  } else if (const size_t colon = last.rfind(':');
             colon != std::string_view::npos && colon > 0 && IsCardNumber(last.substr(colon + 1)) &&
             last.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") < colon) {
    card.gpu.assign(last.substr(colon + 1));
    card.node.assign(last.substr(0, colon));
    words.pop_back();
  } else {
    return std::nullopt;
  }
  if (words.size() > 1 || (!words.empty() && !card.node.empty())) return std::nullopt;
  if (!words.empty()) card.node.assign(words[0]);
  return card;
}

struct Legend {
  prom::CardLabels card;
  model::GpuMetric metric = model::GpuMetric::kSmUtil;
};
std::optional<Legend> LegendOf(const std::string& metric, std::optional<prom::CardLabels> card) {
  const prom::Meaning* m = metric.empty() ? nullptr : prom::FindSeries(metric);
  if (m == nullptr || m->target != prom::Target::kCard || m->factor != 1 || !card) return std::nullopt;
  return Legend{std::move(*card), static_cast<model::GpuMetric>(m->what)};
}
std::optional<Legend> ReadLegend(const std::string& text) {
  const size_t end = std::min(text.find_first_of("{ "), text.size());
  std::string metric = text.substr(0, end);
  if (metric.empty() && end < text.size()) {  // {__name__="DCGM_FI_DEV_GPU_UTIL", gpu="0"}
    prom::SeriesName series;
    if (prom::ParseSeries("x" + text, &series)) metric.assign(series.Label("__name__"));
    return LegendOf(metric, CardOf(text));
  }
  return LegendOf(metric, CardOf(std::string_view(text).substr(end)));
}

/// Where a table keeps what: legends in its headings, in the cells of a column, or their labels in columns.
struct Shape {
  std::string heading;
  std::vector<std::string> names;  // the headings, plain
  size_t time = SIZE_MAX, legend = SIZE_MAX, value = SIZE_MAX, metric = SIZE_MAX;
  bool wide() const { return value == SIZE_MAX; }
};

std::optional<Shape> ShapeOf(std::string_view line) {
  Shape s;
  s.heading.assign(line);
  for (const std::string_view cell : SplitCells(line)) {
    const size_t i = s.names.size();
    s.names.push_back(PlainCell(cell));
    const std::string lower = ToLower(s.names.back());
    if (s.time == SIZE_MAX && ReadHeading(cell, model::Scope::kGpu).field.target == Target::kTime) s.time = i;
    if (lower == "__name__") s.metric = i;
    if (lower == "metric" || lower == "series" || lower == "legend") s.legend = i;
    if (s.value == SIZE_MAX && (lower == "value" || StartsWith(lower, "value #"))) s.value = i;
  }
  if (s.time == SIZE_MAX || s.names.size() < 2) return std::nullopt;
  if (!s.wide() && s.metric == SIZE_MAX && (s.legend == SIZE_MAX || s.names.size() != 3)) return std::nullopt;
  return s;
}

std::optional<Shape> FindShape(std::string_view sample, std::string_view* rows) {
  for (size_t n = 0; n < kHeadingWithin && !sample.empty(); ++n) {
    const std::string_view line = TakeLine(&sample);
    if (line.find(',') == std::string_view::npos) continue;
    auto shape = ShapeOf(line);
    if (!shape) continue;
    *rows = sample;
    return shape;
  }
  return std::nullopt;
}

/// Rows of cards, in the order in which they first stood in the file.
class LongTable {
 public:
  void Put(std::string_view time, const Legend& legend, std::string_view value) {
    const auto m = static_cast<size_t>(legend.metric);
    used_[m] = true;
    const std::string card = fmt::format("\"{}\",\"{}\",{}", legend.card.node, legend.card.uuid, legend.card.gpu);
    const auto [at, fresh] = row_of_.try_emplace(std::string(time) + '\n' + card, rows_.size());
    if (fresh) rows_.push_back({std::string(time), card, {}});
    std::string& cell = rows_[at->second].cells[m];
    if (cell.empty()) cell.assign(value);
  }
  /// "" where no row holds a reading. `unknown` = legends that mean nothing here, to be counted by the reader.
  std::string Text(const std::vector<std::string>& unknown) const {
    if (rows_.empty()) return "";
    std::string out = "timestamp,node,uuid,gpu";
    const auto each = [&](const auto& f) {
      for (const auto& [m, used] : used_) f(m);
    };
    each([&](size_t m) { out.append(",").append(model::Info(static_cast<model::GpuMetric>(m)).name); });
    for (const std::string& name : unknown) {
      out += ",\"";
      for (const char c : name) out += c == '"' ? '\'' : c;
      out += '"';
    }
    out += '\n';
    for (const Row& row : rows_) {
      out.append(row.time).append(",").append(row.card);
      each([&](size_t m) {
        const auto cell = row.cells.find(m);
        out += ',';
        if (cell != row.cells.end()) out += cell->second;
      });
      out.append(unknown.size(), ',') += '\n';
    }
    return out;
  }

 private:
  struct Row {
    std::string time, card;
    std::map<size_t, std::string> cells;
  };
  std::vector<Row> rows_;
  std::unordered_map<std::string, size_t> row_of_;
  std::map<size_t, bool> used_;
};

/// A legend that lacks the node or the uuid is of the one card that has them and fits; false where several do.
bool Complete(const std::map<size_t, Legend>& all, prom::CardLabels* card) {
  const prom::CardLabels* found = nullptr;
  for (const auto& [i, legend] : all) {
    const prom::CardLabels& c = legend.card;
    const auto fits = [](const std::string& mine, const std::string& other) { return mine.empty() || mine == other; };
    const bool more =
        c.node.size() + c.uuid.size() + c.gpu.size() > card->node.size() + card->uuid.size() + card->gpu.size();
    if (!more || !fits(card->node, c.node) || !fits(card->uuid, c.uuid) || !fits(card->gpu, c.gpu)) continue;
    if (found != nullptr && (found->node != c.node || found->uuid != c.uuid || found->gpu != c.gpu)) return false;
    found = &c;
  }
  if (found != nullptr) *card = *found;
  return true;
}

/// Reads the rows below the headings; legends of each form come down to the same triple.
class Reader {
 public:
  explicit Reader(const Shape& shape) : shape_(shape) {
    for (size_t i = 0; shape.wide() && i < shape.names.size(); ++i) {
      if (i == shape.time || shape.names[i].empty()) continue;
      if (auto legend = ReadLegend(shape.names[i])) {
        columns_.emplace(i, std::move(*legend));
      } else {
        unknown_.push_back(shape.names[i]);
      }
    }
    const std::map<size_t, Legend> as_told = columns_;
    for (auto it = columns_.begin(); it != columns_.end();) {
      const bool told = Complete(as_told, &it->second.card);
      if (!told) unknown_.push_back(shape.names[it->first]);
      it = told ? std::next(it) : columns_.erase(it);
    }
  }
  bool hopeless() const { return shape_.wide() && columns_.empty(); }
  void Row(const std::vector<std::string_view>& cells) {
    if (cells.size() != shape_.names.size()) return;
    for (const auto& [i, legend] : columns_) {
      if (!Trim(cells[i]).empty()) out_.Put(cells[shape_.time], legend, cells[i]);
    }
    if (shape_.wide()) return;
    if (const auto legend = OfRow(cells)) out_.Put(cells[shape_.time], *legend, cells[shape_.value]);
  }
  std::string Text() const { return out_.Text(unknown_); }

 private:
  std::optional<Legend> OfRow(const std::vector<std::string_view>& cells) const {
    if (shape_.metric == SIZE_MAX) return ReadLegend(PlainCell(cells[shape_.legend]));
    prom::SeriesName series;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i != shape_.time && i != shape_.value) series.labels.emplace_back(shape_.names[i], PlainCell(cells[i]));
    }
    prom::CardLabels card = prom::ReadCardLabels(series);
    if (!card.names_card() || card.instance) return std::nullopt;
    return LegendOf(PlainCell(cells[shape_.metric]), std::move(card));
  }

  const Shape& shape_;
  std::map<size_t, Legend> columns_;
  std::vector<std::string> unknown_;
  LongTable out_;
};

}  // namespace

std::optional<std::string> FromLegends(std::string_view sample, std::string_view bytes) {
  std::string_view rows;
  const auto shape = FindShape(sample, &rows);
  if (!shape) return std::nullopt;
  Reader reader(*shape);
  if (reader.hopeless()) return std::nullopt;
  sys::LineReader lines(sys::OpenBytes(bytes));
  std::string_view line;
  std::vector<std::string_view> cells;
  bool below = false;
  while (lines.Next(&line)) {
    if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line == shape->heading)
      below = true;
    else if (below && lines.terminated())
      SplitCells(line, &cells), reader.Row(cells);
  }
  std::string out = reader.Text();
  if (out.empty()) return std::nullopt;
  return out;
}

std::vector<std::string> LegendsWithoutMetric(std::string_view sample) {
  std::string_view rows;
  const auto shape = FindShape(sample, &rows);
  std::vector<std::string> out;
  if (!shape || shape->metric != SIZE_MAX) return out;
  if (shape->wide()) {
    for (size_t i = 0; i < shape->names.size(); ++i) {
      if (i == shape->time || shape->names[i].empty()) continue;
      if (!CardOf(shape->names[i])) return {};
      out.push_back(shape->names[i]);
    }
    return out;
  }
  for (size_t n = 0; n < kRowsLookedAt && rows.find('\n') != std::string_view::npos; ++n) {
    const std::vector<std::string_view> cells = SplitCells(TakeLine(&rows));
    if (cells.size() != shape->names.size()) continue;
    const std::string legend = PlainCell(cells[shape->legend]);
    if (!CardOf(legend)) return {};
    if (std::find(out.begin(), out.end(), legend) == out.end()) out.push_back(legend);
  }
  return out;
}

}  // namespace sawbill::ingest
