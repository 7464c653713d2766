// SPDX-License-Identifier: Apache-2.0
// Errors as values. The world's "no" is a Status; a programmer's mistake aborts (SAWBILL_CHECK); odd data is neither:
// it is counted (model/data_quality.h). No exception crosses a room's border.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace sawbill {

enum class StatusKind {
  kOk,
  kInvalid,      // what the user gave is wrong: flag, file content, rule, price (exit 2)
  kNotFound,     // a file, card or name that is not there (exit 2)
  kUnsupported,  // a format or feature that this build or machine does not offer (exit 2)
  kUnavailable,  // the environment said no: no driver, no permission, disk full, locked (exit 3)
  kIo,           // a read or write failed (exit 3)
};

/// Success, or what was wrong, where, and what to do about it. The message is one line, for a person, in English.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  static Status Ok() { return {}; }
  static Status Invalid(std::string m) { return {StatusKind::kInvalid, std::move(m)}; }
  static Status NotFound(std::string m) { return {StatusKind::kNotFound, std::move(m)}; }
  static Status Unsupported(std::string m) { return {StatusKind::kUnsupported, std::move(m)}; }
  static Status Unavailable(std::string m) { return {StatusKind::kUnavailable, std::move(m)}; }
  static Status Io(std::string m) { return {StatusKind::kIo, std::move(m)}; }

  bool ok() const { return kind_ == StatusKind::kOk; }
  StatusKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  /// The process exit status that contracts.md gives to this kind: 0, 2 or 3.
  int exit_code() const {
    if (ok()) return 0;
    return kind_ == StatusKind::kUnavailable || kind_ == StatusKind::kIo ? 3 : 2;
  }
  /// The same error with `where` (a file, a flag) put in front: "where: message".
  Status At(const std::string& where) const { return ok() ? *this : Status(kind_, where + ": " + message_); }

 private:
  StatusKind kind_ = StatusKind::kOk;
  std::string message_;
};

[[noreturn]] inline void CheckFailed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "sawbill: internal error: %s (%s:%d)\n", what, file, line);
  std::abort();
}
#define SAWBILL_CHECK(cond)                                         \
  do {                                                              \
    if (!(cond)) ::sawbill::CheckFailed(#cond, __FILE__, __LINE__); \
  } while (false)

/// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    SAWBILL_CHECK(!status_.ok());
  }
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & {
    SAWBILL_CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    SAWBILL_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    SAWBILL_CHECK(ok());
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

#define SAWBILL_RETURN_IF_ERROR(expr)                  \
  do {                                                 \
    ::sawbill::Status sawbill_status_ = (expr);        \
    if (!sawbill_status_.ok()) return sawbill_status_; \
  } while (false)

#define SAWBILL_CONCAT_(a, b) a##b
#define SAWBILL_CONCAT(a, b) SAWBILL_CONCAT_(a, b)
#define SAWBILL_ASSIGN_OR_RETURN(lhs, expr) \
  SAWBILL_ASSIGN_OR_RETURN_(SAWBILL_CONCAT(sawbill_result_, __LINE__), lhs, expr)
// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` may declare a variable
#define SAWBILL_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return tmp.status();             \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace sawbill
