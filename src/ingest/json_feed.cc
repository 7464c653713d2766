// SPDX-License-Identifier: Apache-2.0
#include "ingest/json_feed.h"

#include <cmath>

#include "base/json_pull.h"
#include "base/text.h"

namespace sawbill::ingest {
namespace {
constexpr size_t kMostPending = 64 << 20;

/// Of a line that ends one document and begins the next ("}{", "}, {"): the next; "" of any other line. gpustat writes
/// no line break behind a document that it prints over many lines.
std::string_view NextDocument(std::string_view line) {
  if (line.front() != '}' && line.front() != ']') return {};
  line = Trim(line.substr(1));
  if (StartsWith(line, ",")) line = Trim(line.substr(1));
  return !line.empty() && (line.front() == '{' || line.front() == '[') ? line : std::string_view();
}

}  // namespace

void JsonFeed::Line(std::string_view line) {
  line = StartsWith(line, "\xEF\xBB\xBF") ? line.substr(3) : line;
  if (line.empty()) return;
  if (const std::string_view next = NextDocument(line); !next.empty()) {
    Line(line.substr(0, 1));
    return Line(next);
  }
  const bool begins = line.front() == '{' || line.front() == '[';
  if (begins) {
    Flush();  // printed over several lines all but the outermost brackets are indented: what was open is cut off
    std::string_view text = Trim(line);
    if (text.back() == ',') text.remove_suffix(1);
    // The brackets of an array around documents that stand at the very left say nothing.
    if (text.size() > 1 && text.front() == '[' && text.back() != ']') text = Trim(text.substr(1));
    if (text.empty()) return;
    if (text.front() == '{' && text.back() == ']') text = Trim(text.substr(0, text.size() - 1));
    if (text.size() > 1 && text.back() == (text.front() == '[' ? ']' : '}')) return Document(text);
    pending_.assign(text);
    return;
  }
  if (pending_.empty()) {
    const std::string_view text = Trim(line);
    if (!text.empty() && text != "]" && text != ",") ++broken_;  // what a torn document left
    return;
  }
  if (pending_.size() + line.size() > kMostPending) {
    pending_.clear();
    ++broken_;
    return;
  }
  pending_.append("\n").append(line);
  if (line.front() == '}' || line.front() == ']') Flush();
}

void JsonFeed::Flush() {
  if (pending_.empty()) return;
  std::string_view text = Trim(pending_);
  if (!text.empty() && text.back() == ',') text.remove_suffix(1);
  if (text != "[") Document(text);
  pending_.clear();
}

void JsonFeed::Document(std::string_view text) {
  JsonPull json(text);
  std::string_view key;
  const auto used = [&] {
    const std::string_view k = key;
    key = {};
    return k;
  };
  while (true) {
    switch (const JsonToken token = json.Next(); token) {
      case JsonToken::kKey:
        key = json.escaped() ? json.Text(&key_) : json.raw();
        break;
      case JsonToken::kObject:
      case JsonToken::kArray:
        to_.Open(used(), token == JsonToken::kArray);
        break;
      case JsonToken::kObjectEnd:
      case JsonToken::kArrayEnd:
        to_.Close();
        break;
      case JsonToken::kNumber: {
        const double v = json.Number();
        std::isfinite(v) ? to_.Number(used(), v) : to_.Nothing(used());
        break;
      }
      case JsonToken::kString:
        to_.Text(used(), json.escaped() ? json.Text(&scratch_) : json.raw());
        break;
      case JsonToken::kTrue:
      case JsonToken::kFalse:
      case JsonToken::kNull:
        to_.Nothing(used());
        break;
      case JsonToken::kEnd:
        return;
      case JsonToken::kError:
        ++broken_;
        to_.Broken();
        return;
    }
  }
}

}  // namespace sawbill::ingest
