// SPDX-License-Identifier: Apache-2.0
#include "app/sources.h"

#include <algorithm>
#include <set>

#include "app/pipeline.h"
#include "base/text.h"
#include "ingest/open.h"
#include "store/day_reader.h"

namespace sawbill::app {
namespace {

/// How far behind the period asked for the sample that ends its last interval is looked for.
constexpr TimeMs kBeyondMs = 3'600'000;

/// A source as the user asked for it: cut to a period, cards labelled.
class AdjustedSource : public model::TelemetrySource {
 public:
  AdjustedSource(std::unique_ptr<model::TelemetrySource> inner, const std::map<std::string, std::string>& labels,
                 std::optional<model::TimeRange> clip, model::TimeRange there, std::string name = "")
      : name_(std::move(name)),
        inner_(std::move(inner)),
        labels_(labels),
        clip_(clip),
        cards_(inner_->cards()),
        period_(there) {
    for (model::CardInfo& card : cards_) Label(&card);
    for (size_t i = 0; i < inner_->pieces().size(); ++i) {
      const model::TimeRange piece = Cut(inner_->pieces()[i]);
      if (clip_ && piece.empty()) continue;
      pieces_.push_back(piece);
      index_.push_back(i);
    }
    if (!clip_) return;
    // Samples may stop before the period's end and go on behind it: that hole belongs to the period.
    period_ = Cut(there);
    if (!pieces_.empty()) {
      pieces_.front().from = period_.from;
      pieces_.back().to = period_.to;
    }
  }
  const std::vector<model::CardInfo>& cards() const override { return cards_; }
  model::TimeRange period() const override { return period_; }
  const std::vector<model::TimeRange>& pieces() const override { return pieces_; }
  std::string description() const override { return name_.empty() ? inner_->description() : name_; }
  Result<model::Recording> Read(size_t piece) const override {
    auto recording = inner_->Read(index_[piece]);
    if (!recording.ok()) return recording;
    if (clip_ && piece + 1 == pieces_.size()) SAWBILL_RETURN_IF_ERROR(TakeBehind(index_[piece] + 1, &*recording));
    if (clip_) ClipRecording(*clip_, &*recording);
    for (model::GpuTrack& track : recording->gpus) Label(&track.card);
    return recording;
  }

 private:
  void Label(model::CardInfo* card) const {
    const auto it = labels_.find(card->uuid);
    if (it != labels_.end()) card->label = it->second;
  }
  model::TimeRange Cut(model::TimeRange r) const {
    if (clip_) r = {std::max(r.from, clip_->from), std::min(r.to, clip_->to)};
    return r;
  }

  /// Each card's first sample behind the period, where it stands in the next piece.
  Status TakeBehind(size_t next, model::Recording* recording) const {
    if (next >= inner_->pieces().size()) return Status::Ok();
    SAWBILL_ASSIGN_OR_RETURN(const model::Recording later, inner_->Read(next));
    for (model::GpuTrack& track : recording->gpus) {
      if (track.t_ms.empty() || track.t_ms.back() > clip_->to) continue;
      for (const model::GpuTrack& other : later.gpus) {
        if (other.card.key() == track.card.key()) AppendFirstAfter(clip_->to, other, &track);
      }
    }
    return Status::Ok();
  }

  static void AppendFirstAfter(TimeMs t, const model::GpuTrack& from, model::GpuTrack* to) {
    const auto at = static_cast<size_t>(std::upper_bound(from.t_ms.begin(), from.t_ms.end(), t) - from.t_ms.begin());
    if (at >= from.size()) return;
    const size_t n = to->size();
    const auto append = [&](const auto& source, auto* column) {
      if (source.empty() && column->empty()) return;
      using Value = typename std::remove_reference_t<decltype(*column)>::value_type;
      column->resize(n, static_cast<Value>(kMissing));
      column->push_back(source.empty() ? static_cast<Value>(kMissing) : source[at]);
    };
    for (size_t m = 0; m < model::kGpuMetrics; ++m) append(from.columns[m], &to->columns[m]);
    append(from.energy_j, &to->energy_j);
    to->t_ms.push_back(from.t_ms[at]);
  }

  std::string name_;
  std::unique_ptr<model::TelemetrySource> inner_;
  std::map<std::string, std::string> labels_;
  std::optional<model::TimeRange> clip_;
  std::vector<model::CardInfo> cards_;
  model::TimeRange period_;
  std::vector<model::TimeRange> pieces_;
  std::vector<size_t> index_;
};

template <typename Track>
void ClipTrack(model::TimeRange range, Track* track) {
  constexpr bool kOfCard = requires { track->energy_j; };
  const auto& t = track->t_ms;
  auto begin = static_cast<size_t>(std::upper_bound(t.begin(), t.end(), range.from) - t.begin());
  auto end = static_cast<size_t>(std::upper_bound(t.begin(), t.end(), range.to) - t.begin());
  if (begin > 0 && (kOfCard || begin < end)) --begin;  // carries the end of the time before
  if (kOfCard && end < t.size()) ++end;                // the first part of its interval is of the period
  const auto cut = [&](auto* v) {
    if (v->empty()) return;
    v->erase(v->begin() + static_cast<std::ptrdiff_t>(end), v->end());
    v->erase(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(std::min(begin, end)));
  };
  for (auto& column : track->columns) cut(&column);
  if constexpr (kOfCard) cut(&track->energy_j);
  cut(&track->t_ms);
}

/// A side on which nothing is cut: hosts may have been seen a moment before the first card and after the last.
constexpr TimeMs kOpen = int64_t{1} << 60;

/// The period that the flags ask for, open where it reaches as far as what there is.
std::optional<model::TimeRange> Wanted(const Settings& s, model::TimeRange there) {
  model::TimeRange wanted{-kOpen, kOpen};
  if (s.to && *s.to < there.to) wanted.to = *s.to;
  const TimeMs end = std::min(wanted.to, there.to);
  const std::optional<TimeMs> from = s.last_ms ? end - *s.last_ms : s.from;
  if (from && *from > there.from) wanted.from = *from;
  if (s.whole_period && s.from && s.to) return model::TimeRange{*s.from, *s.to};
  if (wanted.from == -kOpen && wanted.to == kOpen) return std::nullopt;
  return wanted;
}

bool HoldsNothing(const std::optional<model::TimeRange>& wanted, model::TimeRange there) {
  return wanted && (wanted->empty() || wanted->from >= there.to || wanted->to <= there.from);
}

std::string Local(TimeMs t, const TimeZone& tz) {
  const CivilTime c = tz.ToLocal(t);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

Status NothingInPeriod(const std::string& path, const Settings& s, model::TimeRange there) {
  return Status::NotFound(
      Tr(s.lang, Msg::kAppNothingInPeriod, path, Local(there.from, s.tz), Local(there.to, s.tz), s.tz.name()));
}

std::string FolderName(const std::string& path, Lang lang, const std::vector<model::CardInfo>& cards) {
  std::set<std::string> nodes;
  for (const auto& c : cards) nodes.insert(c.node);
  const std::string count = nodes.size() > 1 ? Tr(lang, Msg::kAppNodes, nodes.size()) : Tr(lang, Msg::kAppOneNode);
  return Tr(lang, Msg::kAppDayFilesIn, path, count);
}

Result<std::unique_ptr<model::TelemetrySource>> OpenFolder(const Input& input, const Settings& s,
                                                           std::optional<model::TimeRange>* clip) {
  store::DataFolderOptions options;
  options.tz = s.tz;
  options.lang = s.lang;
  options.piece_threads = input.threads;
  options.unread = input.unread;
  auto source = store::OpenDataFolder(input.fs, input.folder, options);
  if (!source.ok()) return source;
  const model::TimeRange there = (*source)->period();
  const std::string name = FolderName(input.name, s.lang, (*source)->cards());
  if (const auto wanted = Wanted(s, there)) {
    if (clip != nullptr) *clip = wanted;
    if (HoldsNothing(wanted, there)) return NothingInPeriod(input.name, s, there);
    if (wanted->from != -kOpen) options.from = wanted->from;
    if (wanted->to != kOpen) options.to = wanted->to + kBeyondMs;
    source = store::OpenDataFolder(input.fs, input.folder, options);
    if (!source.ok()) return source;
    auto adjusted =
        std::make_unique<AdjustedSource>(std::move(*source), s.labels, wanted, s.whole_period ? *wanted : there, name);
    if (adjusted->pieces().empty()) return NothingInPeriod(input.name, s, there);
    return std::unique_ptr<model::TelemetrySource>(std::move(adjusted));
  }
  return std::unique_ptr<model::TelemetrySource>(
      new AdjustedSource(std::move(*source), s.labels, std::nullopt, there, name));
}

}  // namespace

void ClipRecording(model::TimeRange range, model::Recording* recording) {
  for (auto& track : recording->gpus) ClipTrack(range, &track);
  for (auto& track : recording->hosts) ClipTrack(range, &track);
  const auto outside = [&](const auto& row) { return row.t_ms <= range.from || row.t_ms > range.to; };
  std::erase_if(recording->processes, outside);
  std::erase_if(recording->events, outside);
  std::erase_if(recording->runs, [&](const auto& row) { return row.t_ms > range.to; });
}

Result<std::unique_ptr<model::TelemetrySource>> OpenTelemetry(Input* input, const Settings& s,
                                                              std::optional<model::TimeRange>* clip) {
  if (!input->folder.empty()) return OpenFolder(*input, s, clip);
  SAWBILL_CHECK(input->recording != nullptr);
  auto source = ingest::SourceOf(std::move(*input->recording));
  const model::TimeRange there = source->period();
  const auto wanted = Wanted(s, there);
  if (HoldsNothing(wanted, there)) return NothingInPeriod(input->name, s, there);
  if (clip != nullptr) *clip = wanted;
  auto adjusted = std::make_unique<AdjustedSource>(std::move(source), s.labels, wanted, there);
  return std::unique_ptr<model::TelemetrySource>(std::move(adjusted));
}

}  // namespace sawbill::app
