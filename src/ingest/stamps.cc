// SPDX-License-Identifier: Apache-2.0
#include "ingest/stamps.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/csv_formats.h"
#include "ingest/dcgmi_dmon.h"
#include "ingest/format.h"
#include "ingest/prom_formats.h"
#include "ingest/smi_monitor.h"
#include "ingest/smi_query.h"
#include "ingest/smi_table.h"
#include "ingest/stamp_forms.h"
#include "ingest/table.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kLinesLookedAt = 1000;
constexpr TimeMs kDayMs = 86'400'000;

enum class Kind { kNone, kTable, kQuery, kMonitor, kCells, kOwnTimes };

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What the text is without its stamps, and whether times are in it by themselves.
Kind KindOf(std::string_view text, bool has_time_line) {
  const Format* best = nullptr;
  double most = kLeastCertainty;
  for (const Format* f : AllFormats()) {
    if (const double c = f->Certainty(text); c > most) most = c, best = f;
  }
  if (best == &SmiTable()) return has_time_line ? Kind::kOwnTimes : Kind::kTable;
  if (best == &SmiQuery())
    return Has(text, "\nTimestamp ") || StartsWith(text, "Timestamp ") ? Kind::kOwnTimes : Kind::kQuery;
  if (best == &SmiDmon() || best == &SmiPmon()) return Has(text, "HH:MM:SS") ? Kind::kOwnTimes : Kind::kMonitor;
  if (best == &DcgmiDmon()) return Kind::kMonitor;
  if (best == &PrometheusText()) return Kind::kNone;
  return best == nullptr ? Kind::kCells : Kind::kOwnTimes;
}

/// The first look: which of the two ways, and what stands under the stamps.
struct Plan {
  Kind kind = Kind::kNone;
  bool between = false, has_year = true;
  std::string first;
};

struct FirstLook {
  size_t lines = 0, stamped = 0, time_lines = 0, plain_time_lines = 0, time_lines_inside = 0;
  std::string stripped, without_time_lines, first, first_line;
  bool has_year = true, bare = true;
};

FirstLook Look(std::string_view sample) {
  static const TimeZone utc = TimeZone::Utc();
  TimeCells cells(&utc);
  FirstLook f;
  while (!sample.empty() && f.lines < kLinesLookedAt) {
    const size_t stop = sample.find('\n');
    if (stop == std::string_view::npos && f.lines > 0) break;  // cut by the end of the sample
    std::string_view line = sample.substr(0, stop);
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (Trim(line).empty()) continue;
    ++f.lines;
    std::string_view inside = line;
    if (const auto stamp = StampInFront(line, &cells)) {
      if (f.stamped++ == 0) f.first.assign(stamp->text);
      f.has_year = f.has_year && stamp->has_year;
      f.bare = f.bare && line.front() != '[';
      inside = line.substr(stamp->size);
      f.time_lines_inside += TimeLine(inside, &cells).empty() ? 0 : 1;
    }
    f.stripped.append(inside) += '\n';
    const std::string_view time = TimeLine(line, &cells);
    if (time.empty()) {
      f.without_time_lines.append(line) += '\n';
      continue;
    }
    if (f.time_lines++ == 0) f.first_line.assign(time);
    f.plain_time_lines += time == Trim(line) ? 1 : 0;
  }
  return f;
}

Plan PlanFor(std::string_view sample) {
  const FirstLook f = Look(sample);
  Plan p;
  if (f.stamped >= 2 && f.stamped * 10 >= f.lines * 8) {
    p.first = f.first;
    p.has_year = f.has_year;
    p.kind = KindOf(f.stripped, f.time_lines_inside > 0);
    if (p.kind == Kind::kMonitor && p.has_year && f.bare) p.kind = Kind::kNone;  // their readers take it
  } else if (f.time_lines > 0) {
    p.between = true;
    p.first = f.first_line;
    p.kind = KindOf(f.without_time_lines, false);
    const bool taken_by_reader = p.kind == Kind::kTable && f.plain_time_lines == f.time_lines;
    if (p.kind == Kind::kOwnTimes || taken_by_reader) p.kind = Kind::kNone;
  }
  return p;
}

/// Years of stamps that carry none, going by the turns of the year between the first and the last.
class Years {
 public:
  /// How many years later than the first stamp this one is.
  int Turns(const CivilTime& c) {
    if (month_ > 0 && c.month + 6 < month_) ++turns_;
    if (month_ > 0 && c.month > month_ + 6) --turns_;
    month_ = c.month;
    return turns_;
  }
  /// The latest year with which `last` is no later than a day after `modified_ms` (its zone is not known).
  static int Latest(CivilTime last, TimeMs modified_ms) {
    const int now = CivilFromUtc(modified_ms + kDayMs).year;
    for (last.year = now; last.year > now - 9; --last.year) {
      const bool no_such_day =
          last.month == 2 && last.day == 29 && DaysFromCivil(last.year, 3, 1) == DaysFromCivil(last.year, 2, 28) + 1;
      if (!no_such_day && UtcFromCivil(last) <= modified_ms + kDayMs) return last.year;
    }
    return now;
  }

 private:
  int month_ = 0, turns_ = 0;
};

template <typename F>
Status ForLines(std::string_view bytes, F f) {
  sys::LineReader lines(sys::OpenBytes(bytes));
  std::string_view line;
  while (lines.Next(&line)) f(line, lines.terminated());
  return lines.status();
}

class Rewriter {
 public:
  Rewriter(const Plan& plan, int first_year, std::string* out) : plan_(plan), first_year_(first_year), out_(*out) {}
  void Line(std::string_view line, bool terminated);

 private:
  void InFront(std::string_view line);
  void Between(std::string_view line);
  void Put(std::string_view text) { out_.append(text); }
  void Cells(std::string_view line);
  void TimeOfTable();

  const Plan& plan_;
  const int first_year_;
  std::string& out_;
  TimeZone utc_ = TimeZone::Utc();
  TimeCells cells_{&utc_};
  Years years_;
  std::string stamp_;    // that counts for what follows; "" = none yet
  std::string heading_;  // of the table, without a time
  size_t line_at_ = 0;   // where the last line begins
};

/// A row or a heading of a table that lacks the time, with it in front.
void Rewriter::Cells(std::string_view line) {
  if (Trim(line).empty() || stamp_.empty()) return Put(line);
  bool heading = !heading_.empty() && line == heading_;
  if (!heading && (heading_.empty() || line.find_first_of("0123456789") == std::string_view::npos)) {
    heading = LayoutOfHeader("timestamp," + std::string(line), model::Scope::kGpu, Lang::kEn).has_value();
    if (heading) heading_.assign(line);
  }
  Put(heading ? "timestamp" : std::string_view(stamp_));
  Put(",");
  Put(line);
}

/// The time stands before its table, in the place of the line above its head: so no line changes its number.
void Rewriter::TimeOfTable() {
  const bool border = line_at_ < out_.size() && out_[line_at_] == '+';
  if (border) out_.resize(line_at_);
  Put(stamp_);
  Put("\n");
}

void Rewriter::InFront(std::string_view line) {
  const auto stamp = StampInFront(line, &cells_);
  if (!stamp) return Put(line);
  const std::string_view rest = line.substr(stamp->size);
  if (plan_.kind == Kind::kOwnTimes) return Put(rest);
  if (stamp->has_year) {
    stamp_.assign(stamp->text);
  } else {
    const CivilTime& c = stamp->civil;
    stamp_ = fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", first_year_ + years_.Turns(c), c.month, c.day,
                         c.hour, c.minute, c.second, c.millisecond);
  }
  if (plan_.kind == Kind::kCells) return Cells(rest);
  if (plan_.kind == Kind::kMonitor) {
    Put(stamp_);
    Put(" ");
  } else if (plan_.kind == Kind::kTable && Has(rest, "| NVIDIA-SMI ")) {
    TimeOfTable();
  } else if (plan_.kind == Kind::kQuery && Has(rest, "==NVSMI LOG==")) {
    Put("Timestamp : ");
    Put(stamp_);
    Put("\n");
  }
  Put(rest);
}

void Rewriter::Between(std::string_view line) {
  const std::string_view time = TimeLine(line, &cells_);
  if (!time.empty()) {
    stamp_.assign(time);
    if (plan_.kind == Kind::kQuery) Put("Timestamp : ");
    if (plan_.kind == Kind::kQuery || plan_.kind == Kind::kTable) Put(stamp_);
    return;
  }
  if (plan_.kind == Kind::kCells) return Cells(line);
  const bool row = plan_.kind == Kind::kMonitor && !stamp_.empty() && !Trim(line).empty() && line.front() != '#';
  if (row) {
    Put(stamp_);
    Put(" ");
  }
  Put(line);
}

void Rewriter::Line(std::string_view line, bool terminated) {
  const size_t at = out_.size();
  plan_.between ? Between(line) : InFront(line);
  if (terminated) Put("\n");
  const size_t head = out_.rfind('\n', out_.size() - std::min<size_t>(out_.size(), 2));
  line_at_ = head == std::string::npos || head < at ? at : head + 1;
}

}  // namespace

std::optional<Stamped> TakeStampsIn(std::string_view sample, std::string_view bytes, TimeMs modified_ms) {
  const Plan plan = PlanFor(sample);
  if (plan.kind == Kind::kNone) return std::nullopt;
  Stamped out;
  out.between = plan.between;
  int first_year = 2000;
  if (plan.kind != Kind::kOwnTimes) {
    out.first = plan.first;
    if (!plan.has_year) {
      Years years;
      int turns = 0;
      CivilTime last;
      const TimeZone utc = TimeZone::Utc();
      TimeCells cells(&utc);
      (void)ForLines(bytes, [&](std::string_view line, bool) {
        const auto stamp = StampInFront(line, &cells);
        if (!stamp || stamp->has_year) return;
        last = stamp->civil;
        turns = years.Turns(last);
      });
      out.year_unknown = modified_ms == 0;
      if (!out.year_unknown) {
        out.year = Years::Latest(last, modified_ms);
        first_year = out.year - turns;
      }
    }
  }
  Rewriter rewriter(plan, first_year, &out.text);
  out.damage = ForLines(bytes, [&](std::string_view line, bool end) { rewriter.Line(line, end); });
  return out;
}

}  // namespace sawbill::ingest
