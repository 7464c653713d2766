// SPDX-License-Identifier: Apache-2.0
// JSON documents in a log: one a line (JSON lines), printed over many lines one after another, or the elements of one
// array; with or without a line break between them. A document that is torn costs no other: the next one begins at a
// line that begins with '{' or '[', or that goes on with one behind the closing bracket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sawbill::ingest {

/// Receives what is read. `key` is "" in arrays. Views are valid during the call.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void Open(std::string_view key, bool array) = 0;
  virtual void Close() = 0;  // of what was opened last
  virtual void Number(std::string_view key, double value) = 0;
  virtual void Text(std::string_view key, std::string_view value) = 0;
  virtual void Nothing(std::string_view key) = 0;  // null, true, false, NaN, Infinity
  virtual void Broken() = 0;                       // all that is open is void
};

class JsonFeed {
 public:
  explicit JsonFeed(JsonEvents* to) : to_(*to) {}
  void Line(std::string_view line);
  /// The text ended.
  void End() { Flush(); }
  /// Documents that could not be read to their end.
  int64_t broken() const { return broken_; }

 private:
  void Flush();
  void Document(std::string_view text);

  JsonEvents& to_;
  std::string pending_;  // the lines so far of a document that is printed over several
  std::string key_, scratch_;
  int64_t broken_ = 0;
};

}  // namespace sawbill::ingest
