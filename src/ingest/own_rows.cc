// SPDX-License-Identifier: Apache-2.0
#include "ingest/own_rows.h"

#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/time_cells.h"
#include "ingest/wide_csv.h"

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using model::Odd;
using model::Recording;

/// One line's cells by the names of the last header line.
class NamedCells {
 public:
  void Header(std::string_view line) { names_ = WideHeadings(line); }
  bool Take(std::string_view line) {
    cells_ = SplitCells(line);
    return !cells_.empty() && cells_.size() == names_.size();
  }
  std::string Get(std::string_view name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return std::string(Unquote(cells_[i]));
    }
    return "";
  }
  size_t columns() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::vector<std::string_view> cells_;
};

/// A file of rows that begin with a header line of that beginning.
class OwnRows : public Format {
 public:
  OwnRows(std::string_view name, std::string_view header) : name_(name), header_(header) {}
  std::string_view name() const override { return name_; }
  double Certainty(std::string_view sample) const override { return StartsWith(FirstLine(sample), header_) ? 1 : 0; }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out,
              Explanation* explanation) const override {
    Tally tally(context, *lines, &out->quality);
    TimeCells times(context.tz);
    NamedCells cells;
    std::string_view line;
    while (lines->Next(&line)) {
      if (line.empty()) continue;
      if (StartsWith(FirstLine(line), header_)) {
        cells.Header(line);
        continue;
      }
      TimeMs t = 0;
      if (!cells.Take(line) || (HasTime() && !times.Parse(cells.Get("timestamp"), &t))) {
        tally.Count(lines->terminated() ? Odd::kBadRow : Odd::kTornLine);
        continue;
      }
      Row(cells, t, out);
      ++explanation->rows;
    }
    if (explanation->rows == 0) return NothingRead(name_, context, out->quality);
    if (HasTime()) explanation->time_format = DescribeNotation(times.seen(), DateOrder::kUntold);
    return Status::Ok();
  }

 protected:
  virtual bool HasTime() const { return true; }
  virtual void Row(const NamedCells& cells, TimeMs t, Recording* out) const = 0;

 private:
  std::string_view name_, header_;
};

class RunFormat : public OwnRows {
 public:
  RunFormat() : OwnRows("sawbill run day file", "timestamp,run,job,") {}
  void Row(const NamedCells& c, TimeMs t, Recording* out) const override {
    model::RunRow r;
    r.t_ms = t;
    using model::RunRow;
    static constexpr std::pair<const char*, std::string RunRow::*> kCells[] = {
        {"run", &RunRow::run},
        {"job", &RunRow::job},
        {"user", &RunRow::user},
        {"project", &RunRow::project},
        {"node", &RunRow::node},
        {"gpus", &RunRow::gpus},
        {"state", &RunRow::state},
        {"exit_status", &RunRow::exit_status},
        {"program", &RunRow::program},
        {"batch_size", &RunRow::batch_size},
        {"precision", &RunRow::precision},
        {"seq_len", &RunRow::seq_len},
        {"num_workers", &RunRow::num_workers},
        {"prefetch_factor", &RunRow::prefetch_factor},
        {"ckpt_every", &RunRow::ckpt_every},
        {"git_sha", &RunRow::git_sha},
    };
    for (const auto& [name, member] : kCells) r.*member = c.Get(name);
    out->runs.push_back(std::move(r));
  }
};

class EventFormat : public OwnRows {
 public:
  EventFormat() : OwnRows("sawbill event day file", "timestamp,kind,gpu,detail") {}
  void Row(const NamedCells& c, TimeMs t, Recording* out) const override {
    out->events.push_back({t, "", c.Get("kind"), c.Get("gpu"), c.Get("detail")});
  }
};

/// What each card is; the last row of an index stands. Cards without samples: they name those of a log beside it.
class InventoryFormat : public OwnRows {
 public:
  InventoryFormat() : OwnRows("sawbill inventory", "gpu,uuid,name,memory_total_mb") {}
  bool HasTime() const override { return false; }
  void Row(const NamedCells& c, TimeMs, Recording* out) const override {
    CardInfo card;
    static constexpr std::pair<const char*, std::string CardInfo::*> kTexts[] = {
        {"gpu", &CardInfo::gpu},
        {"uuid", &CardInfo::uuid},
        {"name", &CardInfo::name},
        {"driver", &CardInfo::driver},
        {"node", &CardInfo::node},
        {"label", &CardInfo::label},
        {"parent_uuid", &CardInfo::parent_uuid},
    };
    static constexpr std::pair<const char*, std::optional<double> CardInfo::*> kNumbers[] = {
        {"memory_total_mb", &CardInfo::memory_total_mb},
        {"power_limit_w", &CardInfo::power_limit_w},
        {"share", &CardInfo::share},
        {"sm_clock_max_mhz", &CardInfo::sm_clock_max_mhz},
        {"util_window_s", &CardInfo::util_window_s},
    };
    for (const auto& [name, member] : kTexts) card.*member = c.Get(name);
    for (const auto& [name, member] : kNumbers) {
      const auto v = ParseDouble(c.Get(name));
      if (v && *v > 0) card.*member = *v;
    }
    for (model::GpuTrack& g : out->gpus) {
      if (g.card.gpu != card.gpu || g.card.node != card.node) continue;
      // Another card came under the index: without times to go by, which one a sample is of cannot be told.
      if (g.card.uuid != card.uuid) card.uuid.clear();
      g.card = card;
      return;
    }
    out->gpus.emplace_back();
    out->gpus.back().card = card;
  }
};

}  // namespace

const Format& RunDayFile() {
  static const RunFormat format;
  return format;
}
const Format& EventDayFile() {
  static const EventFormat format;
  return format;
}
const Format& InventoryFile() {
  static const InventoryFormat format;
  return format;
}

}  // namespace sawbill::ingest
