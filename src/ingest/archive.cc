// SPDX-License-Identifier: Apache-2.0
#include "ingest/archive.h"

#include <algorithm>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "sys/decompress.h"
#include "sys/mem_fs.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kBlock = 512;

// Places in a header block (ustar).
constexpr size_t kNameAt = 0, kNameSize = 100, kSizeAt = 124, kNumberSize = 12, kTimeAt = 136, kSumAt = 148,
                 kSumSize = 8, kTypeAt = 156, kMagicAt = 257, kPrefixAt = 345, kPrefixSize = 155;

std::string_view Text(std::string_view block, size_t at, size_t size) {
  const std::string_view field = block.substr(at, size);
  return field.substr(0, std::min(field.find('\0'), size));
}

/// Octal digits, or base 256 behind a first byte of 0x80 (GNU, for sizes from 8 GiB).
std::optional<uint64_t> Number(std::string_view block, size_t at, size_t size) {
  const std::string_view field = block.substr(at, size);
  uint64_t n = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (const char c : field.substr(size - 8)) n = n << 8 | static_cast<unsigned char>(c);
    return n;
  }
  bool any = false;
  for (const char c : field) {
    if (c >= '0' && c <= '7') {
      n = n << 3 | static_cast<uint64_t>(c - '0');
      any = true;
    } else if (any || (c != ' ' && c != '\0')) {
      break;
    }
  }
  return any ? std::optional(n) : std::nullopt;
}

bool SoundHeader(std::string_view block) {
  const auto said = Number(block, kSumAt, kSumSize);
  if (!said) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool in_sum = i >= kSumAt && i < kSumAt + kSumSize;
    sum += in_sum ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum == *said;
}

/// "path" of a pax header's records ("27 path=a/b\n").
std::string PaxPath(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    const auto size = ParseInt(records.substr(0, records.find(' ')));
    if (!size || *size <= 0 || static_cast<size_t>(*size) > records.size()) break;
    std::string_view record = records.substr(0, static_cast<size_t>(*size));
    records.remove_prefix(record.size());
    record.remove_prefix(std::min(record.find(' ') + 1, record.size()));
    if (StartsWith(record, "path=")) path = std::string(record.substr(5, record.size() - 6));
  }
  return path;
}

/// "/" + the name, without what could lead out of the archive.
std::string Inside(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    if (!part.empty() && part != "." && part != "..") out += "/" + std::string(part);
  }
  return out;
}

struct Unpacked {
  std::string bytes;
  bool damaged = false, too_large = false;
};
Unpacked Unpack(std::string_view bytes, size_t max_bytes) {
  Unpacked u;
  const auto source = sys::OpenBytes(bytes);
  while (true) {
    const auto block = source->Next();
    u.damaged = !block.ok();
    if (!block.ok() || block->empty()) return u;
    u.too_large = u.bytes.size() + block->size() > max_bytes;
    if (u.too_large) return u;
    u.bytes.append(*block);
  }
}

class Walker {
 public:
  explicit Walker(std::string_view bytes) : bytes_(bytes) {}
  size_t at() const { return at_; }
  bool damaged() const { return damaged_; }

  /// Puts the next file into `fs`; false at the end or at the first damage.
  bool Next(sys::MemFileSystem* fs, size_t* files) {
    if (at_ >= bytes_.size()) return false;
    const std::string_view header = bytes_.substr(at_, kBlock);
    if (header.find_first_not_of('\0') == std::string_view::npos) return false;  // two zero blocks end it
    const auto size = header.size() == kBlock && SoundHeader(header) ? Number(header, kSizeAt, kNumberSize)
                                                                     : std::optional<uint64_t>();
    damaged_ = !size || *size > bytes_.size() - at_ - kBlock;
    // Of a file that is cut off, what is there is worth reading: a log ends with any of its lines.
    if (!size) return false;
    const std::string_view content = bytes_.substr(at_ + kBlock, *size);
    Take(header, content, fs, files);
    if (damaged_) return false;
    at_ += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
    return true;
  }

 private:
  void Take(std::string_view header, std::string_view content, sys::MemFileSystem* fs, size_t* files) {
    const char type = header[kTypeAt];
    if (type == 'L') {  // GNU: the next file's name
      long_name_ = std::string(content.substr(0, content.find('\0')));
    } else if (type == 'x') {
      long_name_ = PaxPath(content);
    } else if (type == '0' || type == '\0' || type == '7') {
      std::string name = std::move(long_name_);
      long_name_.clear();
      if (name.empty()) {
        name = std::string(Text(header, kNameAt, kNameSize));
        const std::string_view prefix = Text(header, kPrefixAt, kPrefixSize);
        if (header.substr(kMagicAt, 6) == std::string_view("ustar\0", 6) && !prefix.empty())
          name = std::string(prefix) + "/" + name;
      }
      name = Inside(name);
      if (name.empty()) return;
      fs->SetNow(static_cast<TimeMs>(std::min<uint64_t>(Number(header, kTimeAt, kNumberSize).value_or(0), 1U << 31)) *
                 1000);
      fs->Put(name, std::string(content));
      ++*files;
    } else {
      long_name_.clear();
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool damaged_ = false;
  std::string long_name_;
};

}  // namespace

bool LooksLikeTar(std::string_view sample) {
  return sample.size() >= kBlock && sample[0] != '\0' && SoundHeader(sample.substr(0, kBlock));
}

Result<Archive> OpenTar(std::string_view bytes, Lang lang, size_t max_bytes) {
  Unpacked unpacked = Unpack(bytes, max_bytes);
  if (unpacked.too_large) return Status::Unsupported(Tr(lang, Msg::kIngestTarTooLarge, max_bytes >> 20));
  auto fs = std::make_unique<sys::MemFileSystem>();
  Walker walker(unpacked.bytes);
  size_t files = 0;
  while (walker.Next(fs.get(), &files)) {
  }
  if (files == 0) return Status::Unsupported(std::string(sawbill::Text(lang, Msg::kIngestTarEmpty)));
  Archive archive;
  if (walker.damaged() || unpacked.damaged)
    archive.notes.push_back(Tr(lang, Msg::kIngestTarDamaged, std::to_string(walker.at())));
  archive.fs = std::move(fs);
  return archive;
}

}  // namespace sawbill::ingest
