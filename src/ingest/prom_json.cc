// SPDX-License-Identifier: Apache-2.0
// What Prometheus' HTTP API answers (query_range: matrix, query: vector), several answers one after the other, and
// VictoriaMetrics' /api/v1/export (one object a line). An answer may stand in a document among other text. Objects are
// looked at in any order of their keys; what is not known is skipped.
#include <algorithm>
#include <string>
#include <vector>

#include "base/json_pull.h"
#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/prom_formats.h"
#include "ingest/prom_series.h"
#include "prom/exposition.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

/// Where an answer may begin in a line of a document: "response: {"status":..."; npos = nowhere.
size_t AnswerBegin(std::string_view line) {
  const size_t open = line.find('{');
  if (open == std::string_view::npos) return open;
  const std::string_view rest = line.substr(open + 1);
  const std::string_view next = Trim(rest.substr(0, 64));
  if (Trim(line.substr(0, open)).empty() && next.empty()) return open;
  for (const char* key : {"\"status\"", "\"metric\"", "\"data\"", "\"resultType\"", "\"error", "\"values\"",
                          "\"timestamps\"", "\"warnings\""}) {
    if (StartsWith(next, key)) return open;
  }
  return std::string_view::npos;
}

class JsonReader {
 public:
  JsonReader(const ReadContext& context, model::Recording* out) : context_(context), out_(out), series_(context, out) {}

  Status Read(sys::LineReader* lines, Explanation* explanation) {
    std::string_view line;
    while (lines->Next(&line)) {
      const size_t begin = AnswerBegin(line);
      if (begin != std::string_view::npos) {
        Document(line.substr(begin), lines);
      } else if (!Trim(line).empty()) {
        ++other_;
      }
    }
    if (!lines->status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file);
    return Finish(explanation);
  }

 private:
  struct Element {  // one of "result", or a line of an export
    bool named = false;
    int series = -1;
    std::vector<double> times, values;
  };

  void Document(std::string_view first, sys::LineReader* lines) {
    // A block for each line, and one for the line end that the reader took off: no token goes on behind it.
    bool line_end = false;
    std::string_view next = first;
    JsonPull json([&]() -> std::string_view {
      line_end = !line_end;
      if (!line_end) return "\n";
      if (next.empty()) {
        do {
          if (!lines->Next(&next)) return {};
        } while (next.empty());
      }
      return std::exchange(next, {});
    });
    json.Next();
    if (!Object(&json, 0)) {
      // Text that only looked like an answer is no damage.
      if (found_)
        out_->quality.Count(json.error() == JsonError::kCutOff ? Odd::kTornLine : Odd::kBadRow, context_.file);
    }
    ++documents_;
  }

  /// From behind '{' to its end.
  bool Object(JsonPull* json, int depth) {
    constexpr int kMostDepth = 24;  // an answer has five
    if (json->token() != JsonToken::kObject || depth > kMostDepth) return json->Skip();
    Element e;
    const bool whole = Members(json, depth, &e);
    Put(&e);  // what was read of a file that was cut off counts
    return whole;
  }

  bool Members(JsonPull* json, int depth, Element* e) {
    for (;;) {
      const JsonToken key = json->Next();
      if (key == JsonToken::kObjectEnd) return true;
      if (key != JsonToken::kKey) return false;
      const std::string_view name = json->raw();
      bool ok = true;
      if (name == "metric") {
        ok = Metric(json, e);
      } else if (name == "values" || name == "value") {
        const bool one = name == "value";  // the name goes with the next token
        std::vector<double> flat;
        ok = Numbers(json, e, &flat);
        if (one && flat.size() == 2) {  // of an instant query
          Point(e, flat[0], flat[1]);
        } else if (!one && !flat.empty()) {
          e->values = std::move(flat);
        }
      } else if (name == "timestamps") {
        e->times.clear();
        ok = Numbers(json, e, &e->times);
      } else if (name == "error" || name == "errorType") {
        ok = json->Next() != JsonToken::kError;
        if (json->token() == JsonToken::kString && error_.size() < 200)
          error_ += (error_.empty() ? "" : ": ") + std::string(json->Text(&scratch_));
      } else {
        found_ = found_ || name == "resultType";
        ok = Value(json, depth);
      }
      if (!ok || json->token() == JsonToken::kError) return false;
    }
  }

  bool Value(JsonPull* json, int depth) {
    switch (json->Next()) {
      case JsonToken::kObject:
        return Object(json, depth + 1);
      case JsonToken::kArray:
        break;
      default:
        return json->token() != JsonToken::kError;
    }
    for (;;) {
      const JsonToken t = json->Next();
      if (t == JsonToken::kArrayEnd) return true;
      if (t == JsonToken::kError || t == JsonToken::kEnd) return false;
      if (t == JsonToken::kObject ? !Object(json, depth + 1) : !json->Skip()) return false;
    }
  }

  bool Metric(JsonPull* json, Element* e) {
    if (json->Next() != JsonToken::kObject) return json->Skip();
    name_.name.clear();
    name_.labels.clear();
    for (;;) {
      const JsonToken key = json->Next();
      if (key == JsonToken::kObjectEnd) break;
      if (key != JsonToken::kKey) return false;
      std::string label(json->Text(&scratch_));
      if (json->Next() == JsonToken::kError) return false;
      if (json->token() != JsonToken::kString) {
        if (!json->Skip()) return false;
        continue;
      }
      std::string text(json->Text(&scratch_));
      if (label == "__name__") {
        name_.name = std::move(text);
      } else {
        name_.labels.emplace_back(std::move(label), std::move(text));
      }
    }
    found_ = e->named = true;
    e->series = series_.Add(name_);
    ++series_seen_;
    return true;
  }

  /// `[[t, "v"], ...]`, or plain numbers into `*flat`.
  bool Numbers(JsonPull* json, Element* e, std::vector<double>* flat) {
    if (json->Next() != JsonToken::kArray) return json->Skip();
    bool is_time = false;
    double time = kMissing;
    for (const size_t outer = json->depth();;) {
      if (json->depth() == outer) json->Consume(Quick(json->Rest(), e, flat));
      const JsonToken t = json->Next();
      double v = kMissing;  // null is NaN, in VictoriaMetrics' export
      switch (t) {
        case JsonToken::kArray:
          is_time = true;
          break;
        case JsonToken::kArrayEnd:
          if (json->depth() + 1 == outer) return true;
          break;
        case JsonToken::kNumber:
        case JsonToken::kString:
        case JsonToken::kNull:
          if (!prom::ParsePromValue(json->raw(), &v)) v = kMissing;
          if (json->depth() == outer) {
            flat->push_back(v);
          } else if (is_time) {
            time = v;
            is_time = false;
          } else {
            Point(e, time, v);
          }
          break;
        case JsonToken::kObject:
          if (!json->Skip()) return false;
          break;
        default:
          if (t == JsonToken::kError || t == JsonToken::kEnd) return false;
      }
    }
  }

  /// The same for what is written as programs write it, many times quicker: how many bytes of `rest` were taken.
  size_t Quick(std::string_view rest, Element* e, std::vector<double>* flat) {
    const char* const begin = rest.data();
    const char* const end = begin + rest.size();
    const char* taken = begin;
    const auto take = [end](const char** p, char c) { return *p != end && **p == c && ++*p; };
    for (const char* p = begin;; taken = p) {
      take(&p, ',');
      take(&p, ' ');
      double time = 0, v = 0;
      if (take(&p, '[')) {
        const bool whole = TakeDecimal(&p, end, &time) && take(&p, ',') && (take(&p, ' ') || true) && take(&p, '"') &&
                           TakeDecimal(&p, end, &v) && take(&p, '"') && take(&p, ']');
        if (!whole) break;
        Point(e, time, v);
        continue;
      }
      // The end of a plain number must be there: the next block may go on with it.
      if (!TakeDecimal(&p, end, &v) || p == end || (*p != ',' && *p != ']')) break;
      flat->push_back(v);
    }
    return static_cast<size_t>(taken - begin);
  }

  void Point(Element* e, double time, double value) {
    if (!e->named) {
      e->times.push_back(time);
      e->values.push_back(value);
      return;
    }
    ++samples_;
    if (e->series < 0) return;
    const TimeMs t = prom::TimeMsOf(time);
    if (t == INT64_MIN) return out_->quality.Count(Odd::kBadRow, context_.file);
    moment_ = moment_ == INT64_MIN || moment_ == t ? t : INT64_MAX;
    series_.Put(e->series, t, value);
  }

  /// What could not be put in at once: values before the name, or apart from their times.
  void Put(Element* e) {
    if (!e->named) return;
    const size_t n = std::min(e->times.size(), e->values.size());
    if (e->times.size() != e->values.size()) out_->quality.Count(Odd::kTornLine, context_.file);
    for (size_t i = 0; i < n; ++i) Point(e, e->times[i], e->values[i]);
  }

  Status Finish(Explanation* explanation) {
    const Lang lang = context_.lang;
    if (series_seen_ == 0 || samples_ == 0) {
      if (!error_.empty())
        return Status::Unsupported(Tr(lang, Msg::kIngestPromAnswerError, context_.file, Sanitize(error_)));
      return Status::Unsupported(Tr(lang, Msg::kIngestPromAnswerEmpty, context_.file));
    }
    explanation->time_format = Tr(lang, Msg::kIngestPromTimeOwn);
    explanation->zone = Tr(lang, Msg::kIngestZoneInFile);
    if (moment_ != INT64_MIN && moment_ != INT64_MAX) out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteMoment));
    if (other_ > 0) {
      out_->quality.Count(Odd::kForeignText, context_.file, other_);
      out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteMixed, other_));
    }
    return series_.Finish(explanation);
  }

  const ReadContext& context_;
  model::Recording* const out_;
  PromSeries series_;
  prom::SeriesName name_;
  std::string scratch_, error_;
  TimeMs moment_ = INT64_MIN;  // INT64_MAX = more than one
  bool found_ = false;
  int64_t documents_ = 0, series_seen_ = 0, samples_ = 0, other_ = 0;
};

class PrometheusJsonFormat : public Format {
 public:
  std::string_view name() const override { return "prometheus json"; }

  double Certainty(std::string_view sample) const override {
    const auto has = [&](std::string_view key) { return sample.find(key) != std::string_view::npos; };
    const size_t begin = sample.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    const bool json = begin != std::string_view::npos && sample[begin] == '{';
    const bool answer = has("\"resultType\"") || (has("\"status\"") && has("\"errorType\""));
    const bool line_export = has("\"metric\"") && has("\"timestamps\"") && has("\"values\"");
    if (json) return answer || line_export ? 0.97 : 0;
    return has("\"resultType\"") && has("\"__name__\"") ? 0.6 : 0;
  }

  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    JsonReader reader(context, out);
    return reader.Read(lines, explanation);
  }
};

}  // namespace

const Format& PrometheusJson() {
  static const PrometheusJsonFormat format;
  return format;
}

}  // namespace sawbill::ingest
