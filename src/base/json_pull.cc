// SPDX-License-Identifier: Apache-2.0
#include "base/json_pull.h"

#include <array>
#include <cstring>

#include "base/text.h"

namespace sawbill {
namespace {

/// What ends a run of plain characters in a string.
constexpr std::array<bool, 256> kStringStop = [] {
  std::array<bool, 256> t{};
  t[static_cast<unsigned char>('"')] = t[static_cast<unsigned char>('\\')] = true;
  return t;
}();

/// What belongs to a number or a bare word.
constexpr std::array<bool, 256> kWord = [] {
  std::array<bool, 256> t{};
  for (unsigned c = '0'; c <= '9'; ++c) t[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) t[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) t[c] = true;
  for (const char c : {'+', '-', '.', '_'}) t[static_cast<unsigned char>(c)] = true;
  return t;
}();

bool Is(const std::array<bool, 256>& table, char c) { return table[static_cast<unsigned char>(c)]; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The four digits at `at`, or -1.
int Hex4(std::string_view s, size_t at) {
  if (at + 4 > s.size()) return -1;
  int v = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = HexDigit(s[i]);
    if (digit < 0) return -1;
    v = v * 16 + digit;
  }
  return v;
}

void AppendUtf8(int code, std::string* out) {
  const auto put = [&](int byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// `*i` stands on the 'u' of "\uXXXX"; then on the last character read.
void DecodeUnicode(std::string_view raw, size_t* i, std::string* out) {
  constexpr int kReplacement = 0xFFFD;
  int code = Hex4(raw, *i + 1);
  if (code < 0) {
    out->append("\\u");
    return;
  }
  *i += 4;
  if (code >= 0xD800 && code < 0xDC00) {
    const bool pair = raw.substr(*i + 1, 2) == "\\u";
    const int low = pair ? Hex4(raw, *i + 3) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      *i += 6;
    } else {
      code = kReplacement;
    }
  } else if (code >= 0xDC00 && code < 0xE000) {
    code = kReplacement;
  }
  AppendUtf8(code, out);
}

}  // namespace

bool JsonPull::More(const char** token) {
  if (!refill_) return false;
  // What is kept of a token that has begun is copied out before the block goes.
  const size_t kept = token == nullptr ? 0 : static_cast<size_t>(end_ - *token);
  const int64_t before = base_ + (end_ - block_begin_) - static_cast<int64_t>(kept);
  if (kept > 0 && *token == carry_.data()) {
    carry_.resize(kept);
  } else if (kept > 0) {
    carry_ = std::string(*token, kept);
  }
  const std::string_view block = refill_();
  if (kept == 0) {
    if (block.empty()) return false;
    block_begin_ = p_ = block.data();
    end_ = p_ + block.size();
  } else {
    carry_.append(block);
    block_begin_ = *token = carry_.data();
    p_ = *token + kept;
    end_ = carry_.data() + carry_.size();
  }
  base_ = before;
  return !block.empty();
}

bool JsonPull::SkipBlanks() {
  for (;;) {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t' || *p_ == '\0')) ++p_;
    if (p_ != end_) return true;
    if (!More(nullptr)) return false;
  }
}

JsonToken JsonPull::Fail(JsonError error) {
  error_ = error;
  raw_ = {};
  return token_ = JsonToken::kError;
}

JsonToken JsonPull::TakeString(JsonToken kind) {
  const char* begin = p_++;  // the quote
  escaped_ = false;
  for (;;) {
    while (p_ != end_ && !Is(kStringStop, *p_)) ++p_;
    if (p_ != end_ && *p_ == '"') {
      raw_ = std::string_view(begin + 1, static_cast<size_t>(p_ - begin) - 1);
      ++p_;
      return token_ = kind;
    }
    if (p_ != end_) {  // a backslash, which takes the next character with it
      escaped_ = true;
      ++p_;
      if (p_ == end_ && !More(&begin)) return Fail(JsonError::kCutOff);
      ++p_;
      continue;
    }
    if (static_cast<size_t>(p_ - begin) > kMaxTokenBytes) return Fail(JsonError::kTooLong);
    if (!More(&begin)) return Fail(JsonError::kCutOff);
  }
}

JsonToken JsonPull::TakeWord() {
  const char* begin = p_;
  for (;;) {
    while (p_ != end_ && Is(kWord, *p_)) ++p_;
    if (p_ != end_) break;
    if (static_cast<size_t>(p_ - begin) > kMaxTokenBytes) return Fail(JsonError::kTooLong);
    if (!More(&begin)) break;
  }
  raw_ = std::string_view(begin, static_cast<size_t>(p_ - begin));
  if (raw_.empty()) return Fail(JsonError::kSyntax);
  AfterValue();
  const char c = raw_.front();
  if (c == 't' && raw_ == "true") return token_ = JsonToken::kTrue;
  if (c == 'f' && raw_ == "false") return token_ = JsonToken::kFalse;
  if (c == 'n' && raw_ == "null") return token_ = JsonToken::kNull;
  const bool digit = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
  if (digit || raw_ == "NaN" || raw_ == "nan" || raw_ == "Infinity" || raw_ == "Inf" || raw_ == "inf") {
    return token_ = JsonToken::kNumber;
  }
  return Fail(p_ == end_ ? JsonError::kCutOff : JsonError::kSyntax);
}

JsonToken JsonPull::Open(bool object) {
  if (depth_ == kMaxDepth) return Fail(JsonError::kTooDeep);
  ++p_;
  is_object_[depth_++] = object;
  want_ = object ? Want::kKey : Want::kFirstValue;
  return token_ = object ? JsonToken::kObject : JsonToken::kArray;
}

JsonToken JsonPull::Close(bool object) {
  if (depth_ == 0 || is_object_[depth_ - 1] != object) return Fail(JsonError::kSyntax);
  ++p_;
  --depth_;
  AfterValue();
  return token_ = object ? JsonToken::kObjectEnd : JsonToken::kArrayEnd;
}

JsonToken JsonPull::TakeKey() {
  const JsonToken key = TakeString(JsonToken::kKey);
  if (key == JsonToken::kError) return key;
  // The colon may lie in the next block; the key must then be kept.
  const char* begin = raw_.data();
  const size_t size = raw_.size();
  const auto blanks = [&] {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
    return p_ != end_;
  };
  while (!blanks()) {
    if (!More(&begin)) return Fail(JsonError::kCutOff);
    raw_ = std::string_view(begin, size);
  }
  if (*p_ != ':') return Fail(JsonError::kSyntax);
  ++p_;
  want_ = Want::kValue;
  return token_ = JsonToken::kKey;
}

JsonToken JsonPull::Next() {
  if (token_ == JsonToken::kError) return token_;
  raw_ = {};
  if (!SkipBlanks()) {
    if (depth_ > 0 || token_ == JsonToken::kKey) return Fail(JsonError::kCutOff);
    return token_ = JsonToken::kEnd;
  }
  if (!started_) {
    started_ = true;
    if (end_ - p_ >= 3 && std::memcmp(p_, "\xEF\xBB\xBF", 3) == 0) {
      p_ += 3;
      return Next();
    }
  }
  if (want_ == Want::kAfter) {
    if (*p_ == ',') {
      ++p_;
      // A comma before the closing bracket is tolerated: several tools write one.
      want_ = is_object_[depth_ - 1] ? Want::kKey : Want::kFirstValue;
      if (!SkipBlanks()) return Fail(JsonError::kCutOff);
    } else if (*p_ != '}' && *p_ != ']') {
      return Fail(JsonError::kSyntax);
    }
  }
  switch (*p_) {
    case '}':
      return want_ == Want::kValue ? Fail(JsonError::kSyntax) : Close(true);
    case ']':
      return want_ == Want::kValue ? Fail(JsonError::kSyntax) : Close(false);
    default:
      break;
  }
  if (want_ == Want::kKey) return *p_ == '"' ? TakeKey() : Fail(JsonError::kSyntax);
  if (*p_ == '{') return Open(true);
  if (*p_ == '[') return Open(false);
  if (*p_ != '"') return TakeWord();
  AfterValue();
  return TakeString(JsonToken::kString);
}

bool JsonPull::Skip() {
  if (token_ == JsonToken::kKey && Next() == JsonToken::kError) return false;
  if (token_ != JsonToken::kObject && token_ != JsonToken::kArray) return token_ != JsonToken::kError;
  for (const size_t outer = depth_ - 1; depth_ > outer;) {
    if (Next() == JsonToken::kError) return false;
  }
  return true;
}

std::string_view JsonPull::Text(std::string* scratch) const {
  if (!escaped_ || (token_ != JsonToken::kKey && token_ != JsonToken::kString)) return raw_;
  scratch->clear();
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (raw_[i] != '\\' || i + 1 == raw_.size()) {
      scratch->push_back(raw_[i]);
      continue;
    }
    const char c = raw_[++i];
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const size_t at = kFrom.find(c);
    if (c == 'u') {
      DecodeUnicode(raw_, &i, scratch);
    } else if (at != std::string_view::npos) {
      scratch->push_back(kTo[at]);
    } else {
      scratch->push_back('\\');
      scratch->push_back(c);
    }
  }
  return *scratch;
}

double JsonPull::Number() const { return ParseDouble(raw_).value_or(kMissing); }

}  // namespace sawbill
