// SPDX-License-Identifier: Apache-2.0
#include "ingest/open.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/archive.h"
#include "ingest/cells.h"
#include "ingest/legends.h"
#include "ingest/recognise.h"
#include "ingest/table.h"

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using model::Recording;
using model::TimeRange;

class OnePieceSource : public model::TelemetrySource {
 public:
  explicit OnePieceSource(Recording recording) : recording_(std::move(recording)) {
    bool any = false;
    const auto widen = [&](TimeMs from, TimeMs to) {
      period_.from = any ? std::min(period_.from, from) : from;
      period_.to = any ? std::max(period_.to, to) : to;
      any = true;
    };
    for (const auto& g : recording_.gpus) {
      cards_.push_back(g.card);
      if (g.size() > 0) widen(g.t_ms.front(), g.t_ms.back());
    }
    for (const auto& h : recording_.hosts) {
      if (h.size() > 0) widen(h.t_ms.front(), h.t_ms.back());
    }
    for (const auto& p : recording_.processes) widen(p.t_ms, p.t_ms);
    pieces_.push_back(period_);
  }
  const std::vector<CardInfo>& cards() const override { return cards_; }
  TimeRange period() const override { return period_; }
  const std::vector<TimeRange>& pieces() const override { return pieces_; }
  Result<Recording> Read(size_t piece) const override {
    SAWBILL_CHECK(piece == 0);
    return recording_;
  }
  std::string description() const override { return recording_.source + " (" + recording_.format + ")"; }

 private:
  Recording recording_;
  std::vector<CardInfo> cards_;
  TimeRange period_;
  std::vector<TimeRange> pieces_;
};

/// What a file that nobody knows looks like, in a few words.
std::string Looks(const Opened& o, Lang lang) {
  if (Trim(o.sample).empty()) {
    return Tr(lang, o.damage.ok() ? Msg::kIngestLooksEmpty : Msg::kIngestLooksCut);
  }
  size_t control = 0;
  for (const char c : o.sample.substr(0, 4096)) {
    const auto byte = static_cast<unsigned char>(c);
    control += byte < 9 ? 1 : 0;
  }
  if (control * 20 > std::min<size_t>(o.sample.size(), 4096)) return Tr(lang, Msg::kIngestLooksBinary);
  std::string_view line = o.sample;
  while (!line.empty() && (line.front() == '\n' || line.front() == '\r')) line.remove_prefix(1);
  line = line.substr(0, line.find('\n'));
  std::string begin(Trim(line.substr(0, 400)));
  std::replace(begin.begin(), begin.end(), '\t', ' ');
  return Tr(lang, Msg::kIngestLooksLike, Ellipsize(Sanitize(begin), 80));
}

/// The columns of a table with a time and nothing beside it that is known: "" where the file is none.
std::string UnknownColumns(const Opened& o, Lang lang) {
  const std::vector<std::string_view> cells = SplitCells(FirstLine(o.sample));
  bool time = false;
  std::vector<std::string> names;
  for (const std::string_view cell : cells) {
    const Heading h = ReadHeading(cell, model::Scope::kGpu);
    time = time || h.field.target == Target::kTime;
    if (h.field.target == Target::kUnknown && !h.name.empty()) names.push_back(h.name);
  }
  if (!time || names.empty()) return "";
  return Tr(lang, Msg::kIngestUnknownColumns, Ellipsize(Join(names, ", "), 120));
}

Status NotRecognised(const std::string& path, const Opened& o, Lang lang) {
  if (const std::vector<std::string> legends = LegendsWithoutMetric(o.sample); !legends.empty()) {
    return Status::Unsupported(Tr(lang, Msg::kIngestLegendsNoMetric, path, Ellipsize(Join(legends, ", "), 80)));
  }
  const Sniffed s = Sniff(o.sample, model::Scope::kGpu);
  std::string message = Tr(lang, Msg::kIngestNotKnown, path, Looks(o, lang));
  message += UnknownColumns(o, lang);
  if (s.no_time) message += Tr(lang, Msg::kIngestNoTimeColumn);
  message += Tr(lang, Msg::kIngestAccepted);
  if (!s.no_time && !Trim(o.sample).empty()) message += Tr(lang, Msg::kIngestPutHeadings);
  return Status::Unsupported(message);
}

void NoteStamps(const Stamped& stamps, const ReadContext& context, Recording* out) {
  if (!stamps.damage.ok()) {
    out->quality.Count(model::Odd::kDamagedFile, context.file + ": " + stamps.damage.message());
  }
  if (stamps.first.empty()) return;
  const Msg what = stamps.between ? Msg::kIngestNoteStampLines : Msg::kIngestNoteStamps;
  std::vector<std::string> notes = {Tr(context.lang, what, Sanitize(stamps.first))};
  if (stamps.year > 0) {
    notes.push_back(Tr(context.lang, Msg::kIngestNoteStampYear, stamps.year, FormatRfc3339(context.modified_ms)));
  }
  out->notes.insert(out->notes.begin(), notes.begin(), notes.end());  // all else rests on the times
}

void NoteWide(const WideTable& wide, Lang lang, Recording* out) {
  out->notes.push_back(Tr(lang, Msg::kIngestNoteWide, wide.first, wide.last, wide.cards));
  if (wide.left_out.empty()) return;
  out->notes.push_back(Tr(lang, Msg::kIngestNoteWideLeft, Ellipsize(Join(wide.left_out, ", "), 120)));
}

Status ReadAs(const Format& format, const Opened& o, const std::string& path, const IngestOptions& options,
              Recording* out, Explanation* e) {
  ReadContext context;
  context.tz = &options.tz;
  context.file = options.name.empty() ? sys::BaseName(path) : options.name;
  context.lang = options.lang;
  context.modified_ms = o.modified_ms;
  context.dates = o.dates;
  if (o.compression == sys::Compression::kNone || !o.converted.empty()) context.text_bytes = o.bytes().size();
  out->source = options.name.empty() ? path : options.name;
  out->format = std::string(format.name());
  if (o.stamps && o.stamps->year_unknown) {
    return Status::Unsupported(Tr(options.lang, Msg::kIngestStampNoYear, context.file, o.stamps->first));
  }
  if (o.wide) out->quality.Merge(o.wide->quality);  // before all else: a refusal names what was counted
  sys::LineReader lines(sys::OpenBytes(o.bytes()));
  SAWBILL_RETURN_IF_ERROR(format.Read(&lines, context, out, e));
  if (o.wide) NoteWide(*o.wide, options.lang, out);
  if (o.stamps) NoteStamps(*o.stamps, context, out);
  return Status::Ok();
}

void AddColumns(const Explanation& e, Lang lang, std::vector<std::string>* lines) {
  lines->push_back(Tr(lang, Msg::kIngestExplainColumns));
  size_t shown = 0;
  for (const ColumnTaken& c : e.columns) {
    if (++shown > 400) break;  // a file with a new heading line for every row
    std::string as = c.taken_as.empty() ? Tr(lang, Msg::kIngestExplainLeftOut) : c.taken_as;
    if (!c.unit.empty() && !c.taken_as.empty()) as += " [" + Sanitize(c.unit) + "]";
    lines->push_back(Tr(lang, Msg::kIngestExplainColumn, c.column, c.heading.empty() ? "-" : c.heading, as, c.how));
  }
}

void AddCards(const Recording& r, Lang lang, std::vector<std::string>* lines) {
  for (const auto& g : r.gpus) {
    if (g.size() == 0) continue;
    lines->push_back(Tr(lang, Msg::kIngestExplainSamples, g.card.gpu, g.card.name.empty() ? g.card.uuid : g.card.name,
                        g.size(), FormatRfc3339(g.t_ms.front()), FormatRfc3339(g.t_ms.back())));
  }
}

}  // namespace

Result<Recording> ReadFile(sys::FileSystem* fs, const std::string& path, const IngestOptions& options) {
  SAWBILL_ASSIGN_OR_RETURN(const Opened o, Recognise(fs, path));
  const Candidate best = o.candidates.front();
  if (best.certainty < kLeastCertainty)
    return NotRecognised(options.name.empty() ? path : options.name, o, options.lang);
  Recording recording;
  Explanation unused;
  SAWBILL_RETURN_IF_ERROR(ReadAs(*best.format, o, path, options, &recording, &unused));
  return recording;
}

std::unique_ptr<model::TelemetrySource> SourceOf(Recording recording) {
  return std::make_unique<OnePieceSource>(std::move(recording));
}

Result<std::unique_ptr<model::TelemetrySource>> OpenFile(sys::FileSystem* fs, const std::string& path,
                                                         const IngestOptions& options) {
  SAWBILL_ASSIGN_OR_RETURN(Recording recording, ReadFile(fs, path, options));
  return SourceOf(std::move(recording));
}

bool IsArchive(sys::FileSystem* fs, const std::string& path) {
  const auto file = fs->Map(path);
  if (!file.ok()) return false;
  const auto source = sys::OpenBytes((*file)->bytes(), 4096);
  const auto block = source->Next();
  return block.ok() && LooksLikeTar(*block);
}

Result<std::string> ExplainFormat(sys::FileSystem* fs, const std::string& path, const IngestOptions& options) {
  SAWBILL_ASSIGN_OR_RETURN(const Opened o, Recognise(fs, path));
  const Lang lang = options.lang;
  std::vector<std::string> lines;
  const Candidate best = o.candidates.front();
  if (best.certainty < kLeastCertainty) {
    lines.push_back(Tr(lang, Msg::kIngestExplainUnknown));
    lines.push_back(NotRecognised(path, o, lang).message());
    return Join(lines, "\n") + "\n";
  }
  lines.push_back(Tr(lang, Msg::kIngestExplainFormat, best.format->name(), best.certainty));
  for (const Candidate& c : o.candidates) {
    if (c.format != best.format && c.certainty > 0)
      lines.push_back(Tr(lang, Msg::kIngestExplainOther, c.format->name(), c.certainty));
  }
  if (o.compression != sys::Compression::kNone) {
    lines.push_back(
        Tr(lang, Msg::kIngestExplainCompressed, o.compression == sys::Compression::kGzip ? "gzip" : "zstd"));
  }
  Recording r;
  Explanation e;
  const Status read = ReadAs(*best.format, o, path, options, &r, &e);
  if (!read.ok()) lines.push_back(Tr(lang, Msg::kIngestExplainRefused, read.message()));
  if (e.rows > 0) lines.push_back(Tr(lang, Msg::kIngestExplainRows, e.rows));
  if (!e.time_format.empty()) lines.push_back(Tr(lang, Msg::kIngestExplainTime, e.time_format, e.zone));
  if (!e.cards.empty()) lines.push_back(Tr(lang, Msg::kIngestExplainCards, e.cards));
  if (read.ok()) AddCards(r, lang, &lines);
  if (!e.columns.empty()) AddColumns(e, lang, &lines);
  if (!r.quality.empty()) lines.push_back(Tr(lang, Msg::kIngestExplainOdd));
  for (size_t i = 0; i < model::kOdds; ++i) {
    const auto odd = static_cast<model::Odd>(i);
    if (r.quality.count(odd) == 0) continue;
    const model::OddInfo& info = model::Info(odd);
    lines.push_back(fmt::format("  {} x {} ({})", r.quality.count(odd), lang == Lang::kZh ? info.zh : info.en,
                                Sanitize(r.quality.detail(odd))));
  }
  if (!r.notes.empty()) lines.push_back(Tr(lang, Msg::kIngestExplainNotes));
  for (const std::string& note : r.notes) lines.push_back("  " + note);
  return Join(lines, "\n") + "\n";
}

}  // namespace sawbill::ingest
