// SPDX-License-Identifier: Apache-2.0
#include "store/run_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/messages.h"
#include "base/text.h"

namespace sawbill::store {
namespace {

class RunView : public model::TelemetrySource {
 public:
  RunView(std::unique_ptr<model::TelemetrySource> inner, std::string dir, std::vector<model::RunRow> runs)
      : inner_(std::move(inner)), dir_(std::move(dir)), runs_(std::move(runs)) {
    for (const model::RunRow& r : runs_) {
      for (const std::string_view gpu : Split(r.gpus, '|')) {
        if (!gpu.empty()) wanted_.emplace(gpu);
      }
    }
    for (const model::CardInfo& c : inner_->cards()) {
      if (Wanted(c)) cards_.push_back(c);
    }
  }
  const std::vector<model::CardInfo>& cards() const override { return cards_; }
  model::TimeRange period() const override { return inner_->period(); }
  const std::vector<model::TimeRange>& pieces() const override { return inner_->pieces(); }
  std::string description() const override { return inner_->description(); }

  Result<model::Recording> Read(size_t piece) const override {
    auto r = inner_->Read(piece);
    if (!r.ok()) return r;
    std::vector<int32_t> place(r->gpus.size(), -1);
    std::vector<model::GpuTrack> kept;
    for (size_t k = 0; k < r->gpus.size(); ++k) {
      if (!Wanted(r->gpus[k].card)) continue;
      place[k] = static_cast<int32_t>(kept.size());
      kept.push_back(std::move(r->gpus[k]));
    }
    r->gpus = std::move(kept);
    std::erase_if(r->processes, [&](model::ProcessRow& p) {
      if (p.card < 0) return false;
      p.card = place[static_cast<size_t>(p.card)];
      return p.card < 0;
    });
    r->runs = runs_;
    r->source = dir_;
    return r;
  }

 private:
  bool Wanted(const model::CardInfo& c) const { return wanted_.empty() || wanted_.contains(c.gpu); }

  std::unique_ptr<model::TelemetrySource> inner_;
  std::string dir_;
  std::vector<model::RunRow> runs_;
  std::set<std::string> wanted_;  // gpu cells; empty = all
  std::vector<model::CardInfo> cards_;
};

/// `path` as seen from `dir`, with its ".." taken back where the names are there: "/d" rather than "/d/runs/7/../..".
std::string Below(std::string dir, std::string_view path) {
  const std::string joined = sys::JoinPath(dir, path);
  for (const std::string_view part : Split(path, '/')) {
    const std::string last = sys::BaseName(dir);
    if (part != ".." || last.empty() || last.front() == '.' || dir.find('/') == std::string::npos) return joined;
    dir = sys::DirName(dir);
  }
  return dir;
}

}  // namespace

std::string SamplesElsewhere(sys::FileSystem* fs, const DayFolder& folder) {
  if (folder.nodes.size() != 1 || folder.nodes.front().runs.empty()) return "";
  if (std::any_of(folder.files.begin(), folder.files.end(), [](const DayFile& f) { return f.has_rows; })) return "";
  const std::string& dir = folder.nodes.front().path;
  const auto bytes = fs->Map(sys::JoinPath(dir, kSamplesName));
  if (!bytes.ok()) return "";
  const std::string_view text = (*bytes)->bytes();
  const std::string path(Trim(text.substr(0, text.find('\n'))));
  return path.empty() || path.front() == '/' ? path : Below(dir, path);
}

Result<std::unique_ptr<model::TelemetrySource>> OpenRunView(sys::FileSystem* fs, const DayFolder& folder,
                                                            const std::string& dir, const DataFolderOptions& options) {
  const std::vector<model::RunRow>& runs = folder.nodes.front().runs;  // by time
  DataFolderOptions o = options;
  o.only_this_folder = true;
  o.from = std::max(options.from.value_or(runs.front().t_ms), runs.front().t_ms);
  if (runs.back().state == "end") o.to = std::min(options.to.value_or(runs.back().t_ms), runs.back().t_ms);
  if (o.to && *o.from >= *o.to) return Status::NotFound(Tr(options.lang, Msg::kRecRunNothingThen, folder.dir));
  SAWBILL_ASSIGN_OR_RETURN(DayFolder samples, ScanFolder(fs, dir, {o.tz, o.to, true}));
  if (std::none_of(samples.files.begin(), samples.files.end(), [](const DayFile& f) { return f.has_rows; }))
    return Status::NotFound(Tr(options.lang, Msg::kRecRunSamplesGone, folder.dir, dir));
  SAWBILL_ASSIGN_OR_RETURN(auto inner, OpenDataFolder(fs, dir, o));
  return std::unique_ptr<model::TelemetrySource>(std::make_unique<RunView>(std::move(inner), folder.dir, runs));
}

}  // namespace sawbill::store
