// SPDX-License-Identifier: Apache-2.0
#include "ingest/recognise.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ingest/csv_formats.h"
#include "ingest/unwrap.h"

namespace sawbill::ingest {
namespace {

/// UTF-16 (what a redirection in PowerShell writes) as UTF-8; characters beyond ASCII become '?': no field needs them.
std::string FromUtf16(std::string_view bytes) {
  const size_t low = static_cast<unsigned char>(bytes[0]) == 0xFF ? 0 : 1;
  std::string out;
  out.reserve(bytes.size() / 2);
  for (size_t i = 2; i + 1 < bytes.size(); i += 2) {
    const char high = bytes[i + 1 - low], c = bytes[i + low];
    out += high == 0 && static_cast<unsigned char>(c) < 0x80 ? c : '?';
  }
  return out;
}
bool IsUtf16(std::string_view b) { return StartsWith(b, "\xFF\xFE") || StartsWith(b, "\xFE\xFF"); }

void Rank(Opened* o) {
  o->sample.clear();
  o->candidates.clear();
  const auto source = sys::OpenBytes(o->bytes(), kSampleBytes);
  while (o->sample.size() < kSampleBytes) {
    const auto block = source->Next();
    if (!block.ok()) o->damage = block.status();  // a damaged tail is found again, and counted, by the reader
    if (!block.ok() || block->empty()) break;
    o->sample.append(block->substr(0, kSampleBytes - o->sample.size()));
  }
  for (const Format* f : AllFormats()) o->candidates.push_back({f, f->Certainty(o->sample)});
  std::stable_sort(o->candidates.begin(), o->candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.certainty > b.certainty; });
}

/// What parts the cells where it is no comma: a spreadsheet's ';' (then a comma is a decimal point) or a tab.
char OtherDelimiter(std::string_view sample) {
  const std::string_view head = sample.substr(0, sample.find('\n'));
  const auto count = [&](char c) { return std::count(head.begin(), head.end(), c); };
  if (count(',') > 0) return 0;
  return count(';') > 0 ? ';' : count('\t') > 0 ? '\t' : '\0';
}

std::string WithCommas(std::string_view bytes, char delimiter) {
  std::string out(bytes);
  for (char& c : out) c = c == ',' ? '.' : c == delimiter ? ',' : c;
  return out;
}

/// All of a packed file, as far as it can be read.
std::string Unpacked(std::string_view bytes) {
  std::string out;
  const auto source = sys::OpenBytes(bytes);
  while (true) {
    const auto block = source->Next();
    if (!block.ok() || block->empty()) return out;
    out.append(*block);
  }
}

/// A table with columns for each card; other formats have such columns too and read them themselves.
void TakeWide(const std::string& path, Opened* o) {
  const Candidate& best = o->candidates.front();
  const bool others =
      best.certainty >= kLeastCertainty && best.format != &ScriptLog() && best.format != &NvidiaSmiCsv();
  if (others) return;
  ReadContext context;
  context.file = sys::BaseName(path);
  o->wide = TakeWideTable(o->sample, o->bytes(), context);
  if (!o->wide) return;
  o->converted = std::move(o->wide->text);
  Rank(o);
}

/// The bytes as text with commas.
Result<Opened> OpenAsText(sys::FileSystem* fs, const std::string& path) {
  Opened o;
  SAWBILL_ASSIGN_OR_RETURN(o.file, fs->Map(path));
  if (const auto info = fs->Stat(path); info.ok()) o.modified_ms = info->modified_ms;
  o.compression = sys::DetectCompression(o.file->bytes());
  const bool packed = o.compression != sys::Compression::kNone;
  if (IsUtf16(o.file->bytes())) o.converted = FromUtf16(o.file->bytes());
  Rank(&o);
  if (packed && IsUtf16(o.sample)) {
    o.converted = FromUtf16(Unpacked(o.file->bytes()));
    Rank(&o);
  }
  if (o.candidates.front().certainty >= kLeastCertainty) return o;
  const char delimiter = OtherDelimiter(o.sample);
  if (delimiter == 0) return o;
  std::string plain = std::move(o.converted);
  const std::string unpacked = plain.empty() && packed ? Unpacked(o.file->bytes()) : "";
  const std::string_view text = !plain.empty() ? plain : packed ? std::string_view(unpacked) : o.file->bytes();
  o.converted = WithCommas(text, delimiter);
  Rank(&o);
  TakeWide(path, &o);
  if (o.candidates.front().certainty >= kLeastCertainty) return o;
  o.converted = std::move(plain);
  Rank(&o);
  return o;
}

/// Keeps what became of the text only where a format knows it then.
void TakeStamps(Opened* o) {
  o->stamps = TakeStampsIn(o->sample, o->bytes(), o->modified_ms);
  if (!o->stamps) return;
  std::string before = std::exchange(o->converted, std::move(o->stamps->text));
  Rank(o);
  if (o->candidates.front().certainty >= kLeastCertainty) return;
  o->converted = std::move(before);
  o->stamps.reset();
  Rank(o);
}

/// Takes a log out of what it was wrapped in, where a format knows it then and none did before.
void TakeUnwrapped(const std::string& path, Opened* o) {
  const std::string unpacked =
      o->converted.empty() && o->compression != sys::Compression::kNone ? Unpacked(o->bytes()) : "";
  const std::string_view text = unpacked.empty() ? o->bytes() : std::string_view(unpacked);
  auto plain = Unwrap(o->sample, text);
  if (!plain) return;
  std::string before = std::exchange(o->converted, std::move(*plain));
  Rank(o);
  TakeWide(path, o);
  if (o->candidates.front().certainty >= kLeastCertainty) return;
  TakeStamps(o);
  if (o->stamps) return;
  o->converted = std::move(before);
  Rank(o);
}

/// Labels of series as columns: a table of Prometheus, whatever some of its columns are called.
bool HasNameColumn(std::string_view sample) {
  return sample.substr(0, sample.find('\n')).find("__name__") != std::string_view::npos &&
         sample.find(',') != std::string_view::npos && Trim(sample).front() != '{' && Trim(sample).front() != '[';
}

void TakeDateAndTime(Opened* o) {
  auto joined = JoinDateAndTime(o->sample, o->bytes());
  if (!joined) return;
  o->converted = std::move(*joined);
  Rank(o);
}

}  // namespace

Result<Opened> Recognise(sys::FileSystem* fs, const std::string& path) {
  SAWBILL_ASSIGN_OR_RETURN(Opened o, OpenAsText(fs, path));
  if (o.candidates.front().certainty < kLeastCertainty || HasNameColumn(o.sample)) TakeUnwrapped(path, &o);
  TakeDateAndTime(&o);
  if (!o.stamps) TakeStamps(&o);
  if (!o.wide) TakeWide(path, &o);
  o.dates = FindDateOrder(o.sample, o.bytes());
  return o;
}

}  // namespace sawbill::ingest
