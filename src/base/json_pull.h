// SPDX-License-Identifier: Apache-2.0
// JSON, token by token, for files that are too big to hold: Prometheus answers, Kineto traces. Nothing is built and
// nothing is copied that lies in one block; numbers stay text until asked, strings are decoded on demand. It reads what
// programs really write: NaN and Infinity (Python), trailing commas, a byte order mark, invalid UTF-8 and control
// characters inside strings, one document after the other (JSON lines), and a file that ends in the middle of one.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/numbers.h"

namespace sawbill {

enum class JsonToken {
  kObject,     // {
  kObjectEnd,  // }
  kArray,      // [
  kArrayEnd,   // ]
  kKey,        // text() with its colon read
  kString,
  kNumber,  // also NaN, Infinity, -Infinity
  kTrue,
  kFalse,
  kNull,
  kEnd,   // of the input, between documents
  kError  // see error(); every further Next() says it again
};

enum class JsonError { kNone, kCutOff, kSyntax, kTooDeep, kTooLong };

class JsonPull {
 public:
  static constexpr size_t kMaxDepth = 512;
  static constexpr size_t kMaxTokenBytes = 64 << 20;
  /// The next block, valid until the next call; empty at the end.
  using Refill = std::function<std::string_view()>;

  /// `text` must outlive this.
  explicit JsonPull(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}
  explicit JsonPull(Refill refill) : refill_(std::move(refill)) {}
  JsonPull(const JsonPull&) = delete;
  JsonPull& operator=(const JsonPull&) = delete;

  JsonToken Next();
  /// After kObject or kArray: reads on to its end. After kKey: reads its whole value. Else nothing. False on an error.
  bool Skip();

  JsonToken token() const { return token_; }
  /// Key, string or number as it stands in the file, without quotes; valid until the next call of Next() or Skip().
  std::string_view raw() const { return raw_; }
  /// Whether raw() of a key or string holds escapes, so that Text() differs from it.
  bool escaped() const { return escaped_; }
  /// Key or string with its escapes decoded (into `*scratch` where there are any). A half of a surrogate pair becomes
  /// U+FFFD, an escape that is none stays as it is.
  std::string_view Text(std::string* scratch) const;
  /// raw() of a number, or of a string that holds one ("97.5", "NaN", "+Inf"); NaN for what is none.
  double Number() const;

  /// For arrays of millions of elements of one form, which a reader knows better than we do: inside an array, before a
  /// comma or an element, what is left of the block. Consume() takes off whole elements, with their commas.
  std::string_view Rest() const { return std::string_view(p_, static_cast<size_t>(end_ - p_)); }
  void Consume(size_t bytes) {
    if (bytes == 0) return;
    p_ += bytes;
    want_ = Want::kAfter;
    token_ = JsonToken::kArrayEnd;
    raw_ = {};
  }

  /// Containers that are open, the one just begun included.
  size_t depth() const { return depth_; }
  /// Bytes before the end of the last token.
  int64_t offset() const { return base_ + (p_ - block_begin_); }
  JsonError error() const { return error_; }

 private:
  enum class Want { kValue, kFirstValue, kKey, kAfter };

  bool More(const char** token);
  bool SkipBlanks();
  JsonToken Fail(JsonError error);
  JsonToken TakeString(JsonToken kind);
  JsonToken TakeWord();
  JsonToken Open(bool object);
  JsonToken Close(bool object);
  JsonToken TakeKey();
  void AfterValue() { want_ = depth_ == 0 ? Want::kValue : Want::kAfter; }

  Refill refill_;
  std::string carry_;  // a token that lies across blocks, and the rest of its last block
  const char* p_ = nullptr;
  const char* end_ = nullptr;
  const char* block_begin_ = p_;
  int64_t base_ = 0;  // bytes before block_begin_
  std::bitset<kMaxDepth> is_object_;
  size_t depth_ = 0;
  Want want_ = Want::kValue;
  JsonToken token_ = JsonToken::kEnd;
  JsonError error_ = JsonError::kNone;
  std::string_view raw_;
  bool escaped_ = false, started_ = false;
};

}  // namespace sawbill
