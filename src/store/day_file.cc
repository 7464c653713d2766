// SPDX-License-Identifier: Apache-2.0
#include "store/day_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/text.h"
#include "store/csv_line.h"
#include "sys/decompress.h"

namespace sawbill::store {
namespace {
using model::Odd;

constexpr size_t kSmallFileBytes = 128 * 1024;        // looked through at once
constexpr int64_t kSmallCompressedBytes = 4'000'000;  // about 40 MB of text
constexpr size_t kFeedBytes = size_t{4} << 20;
constexpr size_t kSearchBytes = 64 * 1024;
constexpr size_t kPad = 16;  // bytes before a buffer that the fast parser may read
constexpr TimeMs kMin = std::numeric_limits<TimeMs>::min();

/// Notes the times and cards of a file's rows and nothing else.
class TimeTable : public DayTable {
 public:
  TimeTable(TableContext context, DayFile* file) : DayTable(std::move(context)), file_(file) {}
  bool sorted() const { return sorted_; }
  double row_bytes() const { return lines_ > 0 ? static_cast<double>(bytes_) / static_cast<double>(lines_) : 0; }

 protected:
  void OnHeader(const std::vector<std::string_view>& names) override {
    const auto gpu = std::find(names.begin(), names.end(), std::string_view("gpu"));
    gpu_column_ = gpu == names.end() ? -1 : static_cast<int>(gpu - names.begin());
    if (time_column() != 0) sorted_ = false;  // bisection looks at the start of a line
  }
  void OnRow(TimeMs t, const std::vector<std::string_view>& cells) override {
    Note(t);
    if (gpu_column_ >= 0) NoteCard(cells[static_cast<size_t>(gpu_column_)]);
  }
  void Lines(std::string_view text) override {
    bytes_ += static_cast<int64_t>(text.size());
    while (!text.empty()) {
      ++lines_;
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      at(text.data());
      if (!Quick(line)) Line(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  bool Quick(std::string_view line) {
    if (time_column() != 0 || line.size() < 15 || line[10] != '.' || line[14] != ',') return false;
    TimeMs raw = 0;
    for (size_t i = 0; i < 14; ++i) {
      if (i == 10) continue;
      const auto d = static_cast<unsigned>(line[i]) - '0';
      if (d > 9) return false;
      raw = raw * 10 + d;
    }
    Note(raw == last_raw_ ? last_t_ : FixTime(raw));
    last_raw_ = raw;
    if (gpu_column_ == 1) NoteCard(line.substr(15, line.find(',', 15) - 15));
    return true;
  }
  void Note(TimeMs t) {
    if (file_->has_rows && t < last_t_) sorted_ = false;
    file_->first = file_->has_rows ? std::min(file_->first, t) : t;
    file_->last = file_->has_rows ? std::max(file_->last, t) : t;
    file_->has_rows = true;
    last_t_ = t;
  }
  void NoteCard(std::string_view cell) {
    std::vector<std::string>& cards = file_->cards;
    if (next_card_ >= cards.size()) next_card_ = 0;
    if (next_card_ < cards.size() && cards[next_card_] == cell) {
      ++next_card_;
      return;
    }
    if (cell.empty()) return;
    const auto it = std::find(cards.begin(), cards.end(), cell);
    next_card_ = static_cast<size_t>(it - cards.begin()) + 1;
    if (it == cards.end()) cards.emplace_back(cell);
  }

  DayFile* file_;
  int gpu_column_ = -1;
  bool sorted_ = true;
  int64_t bytes_ = 0, lines_ = 0;
  TimeMs last_t_ = 0, last_raw_ = kMin;
  size_t next_card_ = 0;
};

/// The start of the first line at or behind `position`.
size_t LineStart(std::string_view bytes, size_t position) {
  if (position == 0) return 0;
  const size_t end = bytes.find('\n', position - 1);
  return end == std::string_view::npos ? bytes.size() : end + 1;
}

std::optional<TimeMs> TimeOfLine(std::string_view bytes, size_t start) {
  const std::string_view head = bytes.substr(start, 32);
  const size_t comma = head.find(',');
  return comma == std::string_view::npos ? std::nullopt : ParseTimestamp(head.substr(0, comma));
}

/// The time of the first sound row at or behind `start`, searching a little way.
std::optional<TimeMs> NextTime(std::string_view bytes, size_t start) {
  const size_t limit = std::min(bytes.size(), start + kSearchBytes);
  while (start < limit) {
    if (const auto t = TimeOfLine(bytes, start)) return t;
    start = LineStart(bytes, start + 1);
  }
  return std::nullopt;
}

/// Bounds [begin, end) on the bytes of a sorted file such that rows before `begin` have times <= t and rows from `end`
/// on times > t. Both are line starts.
std::pair<size_t, size_t> Bisect(std::string_view bytes, TimeMs t) {
  size_t low = 0, high = bytes.size();
  while (high - low > 2 * 4096) {
    const size_t middle = LineStart(bytes, low + (high - low) / 2);
    if (middle >= high) break;
    const std::optional<TimeMs> at = NextTime(bytes, middle);
    if (!at) break;
    (*at <= t ? low : high) = middle;
  }
  return {low, high};
}

bool ProbesAscend(std::string_view bytes, TimeMs first) {
  constexpr size_t kProbes = 32;
  TimeMs before = first;
  for (size_t i = 1; i < kProbes; ++i) {
    const std::optional<TimeMs> t = NextTime(bytes, LineStart(bytes, bytes.size() / kProbes * i));
    if (!t || *t < before) return false;
    before = *t;
  }
  return true;
}

/// Times of a large plain file from its ends and some places between; false when that does not do.
bool ProbeTimes(std::string_view bytes, TimeTable* table, DayFile* file) {
  if (!StartsWith(bytes, "timestamp,")) return false;
  const size_t head_end = LineStart(bytes, kSearchBytes);
  const size_t tail = LineStart(bytes, bytes.size() - kSearchBytes);
  const size_t tail_end = bytes.rfind('\n') + 1;
  if (tail >= tail_end) return false;
  table->Feed(bytes.substr(0, head_end), bytes.data(), bytes.data(), 0);
  if (!file->has_rows || !ProbesAscend(bytes, file->first)) return false;
  const TimeMs last_before = file->last;
  table->Feed(bytes.substr(tail, tail_end - tail), bytes.data(), bytes.data(), 0);
  return table->sorted() && file->last > last_before;
}

/// Feeds all lines of a compressed file through `feed(lines, buffer start, lines before)` until it says false.
template <typename FeedLines>
Status StreamLines(std::string_view bytes, std::string* rest, const FeedLines& feed) {
  const std::unique_ptr<sys::ByteSource> source = sys::OpenBytes(bytes);
  std::string buffer(kPad, ' ');
  int64_t lines = 0;
  while (true) {
    const Result<std::string_view> block = source->Next();
    if (!block.ok() || block->empty()) {
      rest->assign(buffer, kPad);
      return block.ok() ? Status::Ok() : block.status();
    }
    buffer.append(*block);
    const size_t end = buffer.rfind('\n');
    if (end == std::string::npos || end < kPad) continue;
    const std::string_view whole = std::string_view(buffer).substr(kPad, end + 1 - kPad);
    if (!feed(whole, buffer.data(), lines)) return Status::Ok();
    lines += std::count(whole.begin(), whole.end(), '\n');
    buffer.erase(kPad, whole.size());
  }
}

/// The last header line before `offset`. Only header lines begin with a letter.
std::string_view HeaderBefore(std::string_view bytes, size_t offset) {
  std::string_view header = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
  // memchr for the letter is several times faster than a search for the word, and few rows have a 't' in them.
  const char* p = bytes.data();
  const char* const end = bytes.data() + offset;
  while (p < end) {
    const void* hit = std::memchr(p, 't', static_cast<size_t>(end - p));
    if (hit == nullptr) break;
    const char* const at = static_cast<const char*>(hit);
    p = at + 1;
    if (at == bytes.data() || at[-1] != '\n') continue;
    const std::string_view line = bytes.substr(static_cast<size_t>(at - bytes.data()));
    if (StartsWith(line, "timestamp,")) header = line.substr(0, std::min(line.find('\n'), line.size()));
  }
  return header;
}

/// The header that holds at `begin`. Looking for one reads all that stands before; where only the tail of the file is
/// wanted and its last line fits the first header, that one is taken.
std::string_view HeaderAt(std::string_view bytes, size_t begin) {
  const std::string_view first = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
  const std::string_view tail = bytes.substr(begin);
  if (tail.size() * 8 < bytes.size()) {
    const std::string_view line = tail.substr(0, std::min(tail.find('\n'), tail.size()));
    if (std::count(line.begin(), line.end(), ',') == std::count(first.begin(), first.end(), ',')) return first;
  }
  return HeaderBefore(bytes, begin);
}

void ReadPlain(const DayFile& file, sys::FileBytes* data, ReadRange range, DayTable* table) {
  const std::string_view bytes = data->bytes();
  size_t begin = 0, end = bytes.size();
  if (file.sorted && range.from > file.first) begin = Bisect(bytes, range.from - 1).first;
  if (file.sorted && range.to < file.last) end = Bisect(bytes, range.to).second;
  const size_t share = (end - begin) / static_cast<size_t>(range.parts);
  if (range.part + 1 < range.parts) end = LineStart(bytes, begin + share * static_cast<size_t>(range.part + 1));
  if (range.part > 0) begin = LineStart(bytes, begin + share * static_cast<size_t>(range.part));
  if (begin > 0 && begin < end) table->SetHeader(HeaderAt(bytes, begin));
  while (begin < end) {
    size_t stop = std::min(begin + kFeedBytes, end);
    if (stop < end) stop = LineStart(bytes, stop);
    if (stop == bytes.size() && bytes.back() != '\n') {
      const size_t last_line = bytes.rfind('\n') == std::string_view::npos ? 0 : bytes.rfind('\n') + 1;
      if (last_line > begin) table->Feed(bytes.substr(begin, last_line - begin), bytes.data(), bytes.data(), 0);
      table->Torn(bytes.substr(std::max(last_line, begin)));
    } else {
      table->Feed(bytes.substr(begin, stop - begin), bytes.data(), bytes.data(), 0);
    }
    data->Forget(stop);
    begin = stop;
  }
}

void CountDamage(const DayFile& file, const Status& status, model::DataQuality* quality) {
  quality->Count(Odd::kDamagedFile, file.name + ": " + status.message());
}

}  // namespace

Status FindTimes(sys::FileSystem* fs, const ClockFix& clock, bool whole, DayFile* file) {
  SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> data, fs->Map(file->path));
  const std::string_view bytes = data->bytes();
  model::DataQuality ignored;  // counted when the file is read
  file->compressed = sys::DetectCompression(bytes) != sys::Compression::kNone;
  file->text_bytes = static_cast<int64_t>(bytes.size()) * (file->compressed ? 8 : 1);
  file->has_rows = file->last_assumed = false;
  file->cards.clear();
  TimeTable table({file->name, &clock, {}, &ignored}, file);
  if (file->compressed) {
    const bool all = whole || !clock.empty() || static_cast<int64_t>(bytes.size()) <= kSmallCompressedBytes;
    std::string rest;
    const Status status = StreamLines(bytes, &rest, [&](std::string_view lines, const char* readable, int64_t) {
      table.Feed(lines, readable, lines.data(), 0);
      return all || !file->has_rows;
    });
    (void)status;  // damage is counted when the file is read
    file->row_bytes = table.row_bytes();
    if (!all && file->has_rows) {
      file->last = file->first + kLongestDayMs;
      file->last_assumed = true;
    }
    file->sorted = false;
    return Status::Ok();
  }
  if (bytes.size() > kSmallFileBytes && clock.empty() && !whole) {
    if (ProbeTimes(bytes, &table, file)) {
      file->sorted = true;
      file->row_bytes = table.row_bytes();
      return Status::Ok();
    }
    file->has_rows = false;
  }
  TimeTable careful({file->name, &clock, {}, &ignored}, file);
  const size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) careful.Feed(bytes.substr(0, end + 1), bytes.data(), bytes.data(), 0);
  file->row_bytes = careful.row_bytes();
  file->sorted = careful.sorted() && clock.empty() && StartsWith(bytes, "timestamp,");
  return Status::Ok();
}

Status ReadDayFile(sys::FileSystem* fs, const DayFile& file, ReadRange range, model::DataQuality* quality,
                   DayTable* table) {
  SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> data, fs->Map(file.path));
  if (!file.compressed) {
    ReadPlain(file, data.get(), range, table);
    return Status::Ok();
  }
  if (range.part > 0) return Status::Ok();
  std::string rest;
  const Status status =
      StreamLines(data->bytes(), &rest, [&](std::string_view lines, const char* readable, int64_t lines_before) {
        table->Feed(lines, readable, lines.data(), lines_before);
        return true;
      });
  table->Torn(rest);
  if (!status.ok()) CountDamage(file, status, quality);
  return Status::Ok();
}

std::optional<TimeMs> TimeAtFraction(sys::FileSystem* fs, const DayFile& file, double fraction) {
  if (!file.sorted) return std::nullopt;
  const Result<std::unique_ptr<sys::FileBytes>> data = fs->Map(file.path);
  if (!data.ok()) return std::nullopt;
  const std::string_view bytes = (*data)->bytes();
  return NextTime(bytes, LineStart(bytes, static_cast<size_t>(fraction * static_cast<double>(bytes.size()))));
}

Result<Copies> CompareFiles(sys::FileSystem* fs, const std::string& first, const std::string& second) {
  SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> a_data, fs->Map(first));
  SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> b_data, fs->Map(second));
  const std::unique_ptr<sys::ByteSource> a = sys::OpenBytes(a_data->bytes()), b = sys::OpenBytes(b_data->bytes());
  std::string_view x, y;
  while (true) {
    if (x.empty()) {
      SAWBILL_ASSIGN_OR_RETURN(x, a->Next());
    }
    if (y.empty()) {
      SAWBILL_ASSIGN_OR_RETURN(y, b->Next());
    }
    if (x.empty() && y.empty()) return Copies::kSame;
    if (x.empty()) return Copies::kSecondIsLonger;
    if (y.empty()) return Copies::kFirstIsLonger;
    const size_t n = std::min(x.size(), y.size());
    if (x.substr(0, n) != y.substr(0, n)) return Copies::kDiffer;
    x.remove_prefix(n);
    y.remove_prefix(n);
  }
}

}  // namespace sawbill::store
