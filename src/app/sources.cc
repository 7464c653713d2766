// SPDX-License-Identifier: Apache-2.0
#include "app/sources.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/open.h"
#include "store/day_reader.h"

namespace sawbill::app {
namespace {

/// A source as the user asked for it: cut to a period, cards labelled.
class AdjustedSource : public model::TelemetrySource {
 public:
  AdjustedSource(std::unique_ptr<model::TelemetrySource> inner, const std::map<std::string, std::string>& labels,
                 std::optional<model::TimeRange> clip)
      : inner_(std::move(inner)), labels_(labels), clip_(clip), cards_(inner_->cards()), period_(inner_->period()) {
    for (model::CardInfo& card : cards_) Label(&card);
    for (size_t i = 0; i < inner_->pieces().size(); ++i) {
      const model::TimeRange piece = Cut(inner_->pieces()[i]);
      if (clip_ && piece.empty()) continue;
      pieces_.push_back(piece);
      index_.push_back(i);
    }
    period_ = Cut(period_);
  }
  const std::vector<model::CardInfo>& cards() const override { return cards_; }
  model::TimeRange period() const override { return period_; }
  const std::vector<model::TimeRange>& pieces() const override { return pieces_; }
  std::string description() const override { return inner_->description(); }
  Result<model::Recording> Read(size_t piece) const override {
    auto recording = inner_->Read(index_[piece]);
    if (!recording.ok()) return recording;
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
  const auto& t = track->t_ms;
  auto begin = static_cast<size_t>(std::upper_bound(t.begin(), t.end(), range.from) - t.begin());
  const auto end = static_cast<size_t>(std::upper_bound(t.begin(), t.end(), range.to) - t.begin());
  if (begin > 0 && begin < end) --begin;  // carries the end of the time before
  const auto cut = [&](auto* v) {
    if (v->empty()) return;
    v->erase(v->begin() + static_cast<std::ptrdiff_t>(end), v->end());
    v->erase(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(std::min(begin, end)));
  };
  for (auto& column : track->columns) cut(&column);
  if constexpr (requires { track->energy_j; }) cut(&track->energy_j);
  cut(&track->t_ms);
}

/// The period that the flags ask for, given what there is.
std::optional<model::TimeRange> Wanted(const Settings& s, model::TimeRange there) {
  if (!s.from && !s.to && !s.last_ms) return std::nullopt;
  const TimeMs to = std::min(s.to.value_or(there.to), there.to);
  if (s.last_ms) return model::TimeRange{to - *s.last_ms, to};
  return model::TimeRange{s.from.value_or(there.from - 1), to};
}

std::string Local(TimeMs t, const TimeZone& tz) {
  const CivilTime c = tz.ToLocal(t);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

Status NothingInPeriod(const std::string& path, const Settings& s, model::TimeRange there) {
  return Status::NotFound(
      Tr(s.lang, Msg::kAppNothingInPeriod, path, Local(there.from, s.tz), Local(there.to, s.tz), s.tz.name()));
}

Result<std::unique_ptr<model::TelemetrySource>> OpenFolder(const std::string& path, const Settings& s,
                                                           Environment* env) {
  store::DataFolderOptions options;
  options.tz = s.tz;
  options.piece_threads = 1;
  auto source = store::OpenDataFolder(env->fs, path, options);
  if (!source.ok()) return source;
  const model::TimeRange there = (*source)->period();
  if (const auto wanted = Wanted(s, there)) {
    if (wanted->empty() || wanted->from >= there.to) return NothingInPeriod(path, s, there);
    options.from = wanted->from;
    options.to = wanted->to;
    source = store::OpenDataFolder(env->fs, path, options);
    if (!source.ok()) return source;
    if ((*source)->pieces().empty() || (*source)->period().empty()) return NothingInPeriod(path, s, there);
  }
  return std::unique_ptr<model::TelemetrySource>(new AdjustedSource(std::move(*source), s.labels, std::nullopt));
}

/// A folder without day files: say which files in it might be meant.
Status NoDayFiles(const std::string& path, const Settings& s, Environment* env) {
  std::string example;
  const auto list = env->fs->List(path);
  if (!list.ok()) return list.status();
  for (const sys::FileInfo& f : *list) {
    if (!f.is_directory && f.name[0] != '.' && example.empty()) example = sys::JoinPath(path, f.name);
  }
  if (example.empty()) return Status::NotFound(Tr(s.lang, Msg::kAppEmptyFolder, path));
  return Status::NotFound(Tr(s.lang, Msg::kAppNoDayFiles, path, example));
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

std::vector<std::string> Inputs(const Options& options, const Settings& settings) {
  return options.files.empty() ? std::vector<std::string>{settings.data_dir} : options.files;
}

Result<std::unique_ptr<model::TelemetrySource>> OpenTelemetry(const std::string& path, const Settings& s,
                                                              Environment* env) {
  const auto info = env->fs->Stat(path);
  if (!info.ok()) {
    if (info.status().kind() == StatusKind::kNotFound && path == s.data_dir) {
      return Status::NotFound(Tr(s.lang, Msg::kAppNoRecordings, path));
    }
    return info.status();
  }
  if (info->is_directory) {
    if (!store::IsDataFolder(env->fs, path)) return NoDayFiles(path, s, env);
    return OpenFolder(path, s, env);
  }
  ingest::IngestOptions options;
  options.tz = s.tz;
  options.lang = s.lang;
  auto source = ingest::OpenFile(env->fs, path, options);
  if (!source.ok()) return source;
  const model::TimeRange there = (*source)->period();
  const auto wanted = Wanted(s, there);
  auto adjusted = std::make_unique<AdjustedSource>(std::move(*source), s.labels, wanted);
  if (wanted && adjusted->period().empty()) return NothingInPeriod(path, s, there);
  return std::unique_ptr<model::TelemetrySource>(std::move(adjusted));
}

}  // namespace sawbill::app
