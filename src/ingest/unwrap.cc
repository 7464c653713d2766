// SPDX-License-Identifier: Apache-2.0
#include "ingest/unwrap.h"

#include <algorithm>
#include <vector>

#include "base/json_pull.h"
#include "base/numbers.h"
#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/legends.h"
#include "ingest/time_cells.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kHeadingWithin = 50;  // lines

std::string_view FirstOf(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

template <typename F>
void ForEachLine(std::string_view bytes, F f) {
  sys::LineReader lines(sys::OpenBytes(bytes));
  std::string_view line;
  while (lines.Next(&line)) f(line, lines.terminated());
}

/// "[pod/train-0/gpu-logger] " where every line begins with it. Lines of several pods are several logs, and stay.
std::optional<std::string> WithoutPrefix(std::string_view sample, std::string_view bytes) {
  const std::string_view first = FirstOf(sample);
  const size_t end = first.find("] ");
  if (!StartsWith(first, "[") || end == std::string_view::npos || first.find('/') > end) return std::nullopt;
  const std::string prefix(first.substr(0, end + 2));
  bool all = true;
  std::string out;
  out.reserve(bytes.size());
  ForEachLine(bytes, [&](std::string_view line, bool terminated) {
    if (StartsWith(line, prefix)) {
      line.remove_prefix(prefix.size());
    } else if (terminated && !Trim(line).empty()) {
      all = false;
    }
    out.append(line) += terminated ? "\n" : "";
  });
  if (!all) return std::nullopt;
  return out;
}

/// One flat object: keys and values as text, in order. False for anything else.
bool FlatObject(std::string_view line, std::vector<std::pair<std::string, std::string>>* out) {
  out->clear();
  JsonPull json(line);
  if (json.Next() != JsonToken::kObject) return false;
  std::string scratch;
  while (true) {
    if (json.Next() == JsonToken::kObjectEnd) return json.Next() == JsonToken::kEnd && !out->empty();
    if (json.token() != JsonToken::kKey) return false;
    std::string key(json.Text(&scratch));
    std::string value;
    switch (json.Next()) {
      case JsonToken::kString:
        value = std::string(json.Text(&scratch));
        break;
      case JsonToken::kNumber:
        value = std::string(json.raw());
        break;
      case JsonToken::kTrue:
        value = "true";
        break;
      case JsonToken::kFalse:
        value = "false";
        break;
      case JsonToken::kNull:
        break;
      default:
        return false;
    }
    out->emplace_back(std::move(key), std::move(value));
  }
}

std::string CellOf(std::string_view value) {
  std::string out;
  for (const char c : value) out += c == ',' || c == '"' || c == '\n' || c == '\r' ? ' ' : c;
  return out;
}

/// {"log":"...\n","stream":"stdout","time":"..."}: the log, each line with docker's time in front. Where the log has
/// times of its own, these are taken off again as any stamps are.
std::optional<std::string> FromDocker(std::string_view bytes) {
  std::string out;
  std::vector<std::pair<std::string, std::string>> object;
  bool fits = true, fresh = true;
  ForEachLine(bytes, [&](std::string_view line, bool terminated) {
    if (!fits || Trim(line).empty()) return;
    if (!FlatObject(line, &object)) {
      fits = !terminated;
      return;
    }
    std::string_view log, time;
    for (const auto& [key, value] : object) {
      if (key == "log") log = value;
      if (key == "time") time = value;
    }
    if (time.empty()) return void(fits = false);
    if (fresh) out.append(time) += ' ';
    out.append(log);
    fresh = !log.empty() && log.back() == '\n';  // long lines come in parts
  });
  if (!fits || out.empty()) return std::nullopt;
  return out;
}

/// Objects of one level, a line each, as a table: columns are the keys, in the order in which they first stand.
std::optional<std::string> FromJsonLines(std::string_view bytes) {
  std::vector<std::string> keys;
  std::vector<std::pair<std::string, std::string>> object;
  bool fits = true;
  const auto each = [&](const auto& f) {
    ForEachLine(bytes, [&](std::string_view line, bool terminated) {
      if (!fits || Trim(line).empty()) return;
      if (FlatObject(line, &object)) return f();
      fits = fits && !terminated;  // the last one may be cut
    });
  };
  each([&] {
    for (const auto& [key, value] : object) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    fits = keys.size() <= 200;
  });
  if (!fits || keys.size() < 2) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < keys.size(); ++i) out += (i > 0 ? "," : "") + CellOf(keys[i]);
  out += '\n';
  each([&] {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i > 0) out += ',';
      const auto at = std::find_if(object.begin(), object.end(), [&](const auto& kv) { return kv.first == keys[i]; });
      if (at != object.end()) out += CellOf(at->second);
    }
    out += '\n';
  });
  return out;
}

/// What `promtool query range -o json` prints: the result alone, without the answer around it.
std::string FromBareResult(std::string_view bytes) {
  return "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":" + std::string(bytes) + "}}\n";
}

/// `promtool query range` in words: the series, "=>", then a line for each value ("95 @[1793696400]"). As lines of
/// Prometheus text with times in milliseconds.
std::optional<std::string> FromPromtool(std::string_view bytes) {
  std::string out, series;
  bool fits = true;
  ForEachLine(bytes, [&](std::string_view line, bool terminated) {
    line = Trim(line);
    if (!fits || line.empty()) return;
    const size_t arrow = line.rfind("=>"), at = line.find(" @[");
    if (arrow != std::string_view::npos && arrow + 2 == line.size()) {
      series.assign(Trim(line.substr(0, arrow)));
      return;
    }
    const size_t end = line.rfind(']');
    const bool value = !series.empty() && at != std::string_view::npos && end == line.size() - 1;
    const auto t = value ? ParseDouble(line.substr(at + 3, end - at - 3)) : std::nullopt;
    if (!t) return void(fits = !terminated);  // the last line may be cut
    out.append(series).append(" ").append(line.substr(0, at)).append(" ");
    out += std::to_string(static_cast<int64_t>(*t * 1000)) + "\n";
  });
  if (!fits || out.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::string> Unwrap(std::string_view sample, std::string_view bytes) {
  if (auto out = WithoutPrefix(sample, bytes)) return out;
  const std::string_view first = FirstOf(sample);
  if (StartsWith(first, "{") && EndsWith(Trim(first), "}")) {
    std::vector<std::pair<std::string, std::string>> object;
    if (!FlatObject(first, &object)) return std::nullopt;
    const auto has = [&](std::string_view key) {
      return std::any_of(object.begin(), object.end(), [&](const auto& kv) { return kv.first == key; });
    };
    return has("log") && has("stream") && has("time") ? FromDocker(bytes) : FromJsonLines(bytes);
  }
  if (StartsWith(Trim(sample), "[") && sample.substr(0, 200).find("\"metric\"") != std::string_view::npos)
    return FromBareResult(bytes);
  if (EndsWith(Trim(first), "=>")) return FromPromtool(bytes);
  return FromLegends(sample, bytes);
}

std::optional<std::string> JoinDateAndTime(std::string_view sample, std::string_view bytes) {
  size_t at = 0;
  std::string heading;
  for (size_t n = 0; n < kHeadingWithin && !sample.empty() && heading.empty(); ++n) {
    std::string_view line = FirstOf(sample);
    sample.remove_prefix(std::min(sample.find('\n'), sample.size() - 1) + 1);
    if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
    const std::vector<std::string_view> cells = SplitCells(line);
    for (size_t i = 0; i + 2 < cells.size(); ++i) {
      if (ToLower(Unquote(cells[i])) != "date" || ToLower(Unquote(cells[i + 1])) != "time") continue;
      at = i;
      heading.assign(line);
      break;
    }
  }
  if (heading.empty()) return std::nullopt;
  std::string out;
  out.reserve(bytes.size());
  size_t joined = 0, whole = 0;
  static const TimeZone utc = TimeZone::Utc();
  std::vector<std::string_view> cells;
  ForEachLine(bytes, [&](std::string_view line, bool terminated) {
    std::string_view body = line;
    if (StartsWith(body, "\xEF\xBB\xBF")) body.remove_prefix(3);
    const bool names = body == heading;
    SplitCells(body, &cells);
    bool join = names;
    if (!names && cells.size() > at + 2) {
      const std::string_view date = Unquote(cells[at]), time = Unquote(cells[at + 1]);
      TimeMs t = 0;
      whole += TimeCells(&utc).Parse(cells[at + 1], &t) ? 1 : 0;  // then the date beside it adds nothing
      join = date.find(':') == std::string_view::npos && time.find(':') != std::string_view::npos &&
             time.find_first_of("-/") == std::string_view::npos;
      joined += join ? 1 : 0;
    }
    if (join) {
      const char* const behind = cells[at + 1].data() + cells[at + 1].size();
      out.append(body.data(), static_cast<size_t>(cells[at].data() - body.data()));
      if (names) out += "timestamp";
      if (!names) out.append(Unquote(cells[at])).append(" ").append(Unquote(cells[at + 1]));
      out.append(behind, static_cast<size_t>(body.data() + body.size() - behind));
    } else {
      out.append(line);
    }
    out += terminated ? "\n" : "";
  });
  if (joined == 0 || whole > 0) return std::nullopt;
  return out;
}

}  // namespace sawbill::ingest
