// SPDX-License-Identifier: Apache-2.0
#include "sys/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace sawbill::sys {
namespace {

// zlib counts in 32 bits; input goes to it in steps of this size.
constexpr size_t kMaxZlibStep = size_t{1} << 30;
// A line this long is no line of a table but a wrong or hostile file (a .gz of nothing but zeros grows a thousandfold).
constexpr size_t kMaxCarryBytes = size_t{64} << 20;

bool IsGzip(std::string_view s) { return s.size() >= 2 && s[0] == '\x1f' && s[1] == '\x8b'; }

bool IsZstd(std::string_view s) {
  if (s.size() < 4) return false;
  const bool frame = s.substr(0, 4) == std::string_view("\x28\xb5\x2f\xfd", 4);
  const bool skippable = (s[0] & '\xf0') == '\x50' && s.substr(1, 3) == std::string_view("\x2a\x4d\x18", 3);
  return frame || skippable;
}

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::string_view> Next() override { return std::exchange(bytes_, {}); }

 private:
  std::string_view bytes_;
};

/// What both decompressors share: a block is filled as far as it goes, and an error waits until that block was given.
class BlockSource : public ByteSource {
 public:
  explicit BlockSource(size_t block_bytes) : block_(std::max<size_t>(block_bytes, 1), '\0') {}

  Result<std::string_view> Next() final {
    size_t filled = 0;
    if (status_.ok() && !at_end_) status_ = Fill(block_.data(), block_.size(), &filled, &at_end_);
    if (filled > 0) return std::string_view(block_.data(), filled);
    if (!status_.ok()) return status_;
    return std::string_view();
  }

 protected:
  /// Fills `out` to its end unless the data ends (sets `at_end`) or is damaged (an error; `filled` bytes are good).
  virtual Status Fill(char* out, size_t size, size_t* filled, bool* at_end) = 0;

 private:
  std::string block_;
  Status status_;
  bool at_end_ = false;
};

class GzipSource : public BlockSource {
 public:
  GzipSource(std::string_view bytes, size_t block_bytes) : BlockSource(block_bytes), rest_(bytes) {
    ready_ = ::inflateInit2(&z_, 15 + 16) == Z_OK;  // +16: gzip's header and check value
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override {
    if (ready_) ::inflateEnd(&z_);
  }

 protected:
  Status Fill(char* out, size_t size, size_t* filled, bool* at_end) override {
    if (!ready_) return Status::Unavailable("not enough memory to read gzip data");
    while (*filled < size) {
      const size_t in_step = std::min(rest_.size(), kMaxZlibStep);
      const size_t out_step = std::min(size - *filled, kMaxZlibStep);
      // zlib's interface is older than const; it does not write to its input.
      z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
      z_.avail_in = static_cast<uInt>(in_step);
      z_.next_out = reinterpret_cast<Bytef*>(out + *filled);
      z_.avail_out = static_cast<uInt>(out_step);
      const int rc = ::inflate(&z_, Z_NO_FLUSH);
      rest_.remove_prefix(in_step - z_.avail_in);
      *filled += out_step - z_.avail_out;
      if (rc == Z_STREAM_END) {
        // Another member, or what tape tools and broken downloads leave behind the last one.
        if (!IsGzip(rest_)) {
          *at_end = true;
          return Status::Ok();
        }
        ::inflateReset(&z_);
      } else if (rc == Z_OK || rc == Z_BUF_ERROR) {
        if (rest_.empty() && z_.avail_out > 0) return Status::Io("gzip data ends early: the file is cut off");
      } else {
        return Status::Io(std::string("damaged gzip data") + (z_.msg != nullptr ? std::string(": ") + z_.msg : ""));
      }
    }
    return Status::Ok();
  }

 private:
  z_stream z_ = {};
  bool ready_ = false;
  std::string_view rest_;
};

class ZstdSource : public BlockSource {
 public:
  ZstdSource(std::string_view bytes, size_t block_bytes)
      : BlockSource(block_bytes), stream_(::ZSTD_createDStream(), &::ZSTD_freeDStream) {
    in_ = {bytes.data(), bytes.size(), 0};
  }

 protected:
  Status Fill(char* out, size_t size, size_t* filled, bool* at_end) override {
    if (stream_ == nullptr) return Status::Unavailable("not enough memory to read zstd data");
    ZSTD_outBuffer to = {out, size, 0};
    while (to.pos < to.size) {
      if (in_frame_ == 0 && in_.pos == in_.size) {
        *at_end = true;
        break;
      }
      const size_t rc = ::ZSTD_decompressStream(stream_.get(), &to, &in_);
      *filled = to.pos;
      if (::ZSTD_isError(rc)) return Status::Io(std::string("damaged zstd data: ") + ::ZSTD_getErrorName(rc));
      in_frame_ = rc;
      if (in_frame_ != 0 && in_.pos == in_.size && to.pos < to.size) {
        return Status::Io("zstd data ends early: the file is cut off");
      }
    }
    return Status::Ok();
  }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream_;
  ZSTD_inBuffer in_ = {};
  size_t in_frame_ = 0;  // 0 between frames
};

}  // namespace

Compression DetectCompression(std::string_view first_bytes) {
  if (IsGzip(first_bytes)) return Compression::kGzip;
  return IsZstd(first_bytes) ? Compression::kZstd : Compression::kNone;
}

std::unique_ptr<ByteSource> OpenBytes(std::string_view bytes, size_t block_bytes) {
  switch (DetectCompression(bytes)) {
    case Compression::kGzip:
      return std::make_unique<GzipSource>(bytes, block_bytes);
    case Compression::kZstd:
      return std::make_unique<ZstdSource>(bytes, block_bytes);
    case Compression::kNone:
      break;
  }
  return std::make_unique<PlainSource>(bytes);
}

bool LineReader::Next(std::string_view* line) {
  carry_.clear();
  while (true) {
    if (block_.empty()) {
      if (at_end_) break;
      Result<std::string_view> block = source_->Next();
      if (!block.ok()) status_ = block.status();
      if (!block.ok() || block->empty()) {
        at_end_ = true;
        continue;
      }
      block_ = *block;
    }
    const void* end = std::memchr(block_.data(), '\n', block_.size());
    if (end == nullptr) {
      if (carry_.size() + block_.size() > kMaxCarryBytes) {
        status_ = Status::Invalid("a line is longer than 64 MiB; this is not a text table");
        block_ = {};
        carry_.clear();
        at_end_ = true;
        return false;
      }
      carry_.append(std::exchange(block_, {}));
      continue;
    }
    const size_t length = static_cast<size_t>(static_cast<const char*>(end) - block_.data());
    *line = block_.substr(0, length);
    if (!carry_.empty()) *line = carry_.append(*line);
    block_.remove_prefix(length + 1);
    terminated_ = true;
    if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
    ++line_number_;
    return true;
  }
  if (carry_.empty()) return false;
  *line = carry_;
  terminated_ = false;
  if (line->back() == '\r') line->remove_suffix(1);
  ++line_number_;
  return true;
}

Result<std::string> CompressZstd(std::string_view data, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), &::ZSTD_freeCCtx);
  if (context == nullptr) return Status::Unavailable("not enough memory to compress");
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(::ZSTD_compressBound(data.size()), '\0');
  const size_t n = ::ZSTD_compress2(context.get(), out.data(), out.size(), data.data(), data.size());
  if (::ZSTD_isError(n)) return Status::Unavailable(std::string("cannot compress: ") + ::ZSTD_getErrorName(n));
  out.resize(n);
  return out;
}

Result<std::string> CompressGzip(std::string_view data) {
  z_stream z = {};
  if (::deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Status::Unavailable("not enough memory to compress");
  }
  std::string out;
  char block[64 * 1024];
  int rc = Z_OK;
  while (rc != Z_STREAM_END) {
    const size_t step = std::min(data.size(), kMaxZlibStep);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    z.avail_in = static_cast<uInt>(step);
    z.next_out = reinterpret_cast<Bytef*>(block);
    z.avail_out = sizeof(block);
    rc = ::deflate(&z, step == data.size() ? Z_FINISH : Z_NO_FLUSH);
    data.remove_prefix(step - z.avail_in);
    out.append(block, sizeof(block) - z.avail_out);
    if (rc != Z_OK && rc != Z_STREAM_END) {
      ::deflateEnd(&z);
      return Status::Unavailable("cannot compress: zlib refused the data");
    }
  }
  ::deflateEnd(&z);
  return out;
}

}  // namespace sawbill::sys
