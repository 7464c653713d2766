// SPDX-License-Identifier: Apache-2.0
// Plain, .gz (multi-member) and .zst (multi-frame) bytes behind one pull interface, in bounded memory. Told apart by
// the first bytes, never by the name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "sys/file.h"

namespace sawbill::sys {

enum class Compression { kNone, kGzip, kZstd };
Compression DetectCompression(std::string_view first_bytes);

/// Reads a file from front to back in blocks.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next block (valid until the next call); empty at the end. A damaged tail gives what could be read, then kIo.
  virtual Result<std::string_view> Next() = 0;
};
/// `bytes` must outlive the source. `block_bytes` bounds each block of a compressed file; a plain one comes in one
/// piece.
std::unique_ptr<ByteSource> OpenBytes(std::string_view bytes, size_t block_bytes = 1 << 20);

/// Whole lines across blocks. Lines end with "\n" or "\r\n"; the last may have no end (`terminated()` says so).
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  /// False at the end or on an error (see status()). `line` stays valid until the next call.
  bool Next(std::string_view* line);
  bool terminated() const { return terminated_; }
  int64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  const Status& status() const { return status_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string_view block_;
  std::string carry_;
  bool terminated_ = true, at_end_ = false;
  int64_t line_number_ = 0;
  Status status_;
};

/// Compresses with zstd (one frame with checksum and content size).
Result<std::string> CompressZstd(std::string_view data, int level = 9);
Result<std::string> CompressGzip(std::string_view data);

}  // namespace sawbill::sys
