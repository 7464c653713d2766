// SPDX-License-Identifier: Apache-2.0
#include "app/pipeline.h"

#include <algorithm>
#include <mutex>

#include "app/sources.h"
#include "base/text.h"
#include "report/build.h"
#include "report/card_labels.h"
#include "sys/self.h"

namespace sawbill::app {
namespace {

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& value) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return GlobMatch(p, value); });
}

/// "GPU-5a3b1111", as reports print it where one index meant two cards.
bool BeginsWithAny(const std::vector<std::string>& values, const std::string& uuid) {
  return std::any_of(values.begin(), values.end(),
                     [&](const std::string& v) { return v.size() >= 8 && StartsWith(uuid, v); });
}

/// --gpu names a card by index ("0"), node and index ("n1/0") or uuid.
bool CardWanted(const Options& o, const model::CardInfo& c) {
  const bool gpu = o.gpus.empty() || MatchesAny(o.gpus, c.gpu) || MatchesAny(o.gpus, c.node + "/" + c.gpu) ||
                   (!c.uuid.empty() && (MatchesAny(o.gpus, c.uuid) || BeginsWithAny(o.gpus, c.uuid)));
  return gpu && (o.labels.empty() || MatchesAny(o.labels, c.label));
}

bool RunWanted(const Options& o, const analysis::RunFacts& r) {
  return (o.jobs.empty() || MatchesAny(o.jobs, r.job) || MatchesAny(o.jobs, r.run)) &&
         (o.users.empty() || MatchesAny(o.users, r.user)) && (o.projects.empty() || MatchesAny(o.projects, r.project));
}

bool SelectsRuns(const Options& o) { return !o.jobs.empty() || !o.users.empty() || !o.projects.empty(); }

/// A name that nobody bears would make a clean bill of nothing: it is an error that names those who are there.
Status CheckNames(const Options& o, const std::string& path, const analysis::Analysis& a, Lang lang) {
  const auto list = [&](const std::set<std::string>& known) {
    std::vector<std::string> names(known.begin(), known.end());
    if (names.size() > 16) names.resize(16), names.emplace_back("...");
    return names.empty() ? std::string(Text(lang, Msg::kAppNoNames)) : Sanitize(Join(names, ", "));
  };
  const auto check = [&](const char* flag, const std::vector<std::string>& wanted, const std::set<std::string>& known,
                         Msg message) {
    for (const std::string& w : wanted) {
      if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return GlobMatch(w, k); }))
        return Status::NotFound(Tr(lang, message, path, flag, Sanitize(w), list(known)));
    }
    return Status::Ok();
  };
  std::set<std::string> jobs = a.jobs;
  for (const auto& r : a.runs) jobs.insert(r.run);
  SAWBILL_RETURN_IF_ERROR(check("--job", o.jobs, jobs, Msg::kAppNoSuchJob));
  SAWBILL_RETURN_IF_ERROR(check("--user", o.users, a.users, Msg::kAppNoSuchUser));
  SAWBILL_RETURN_IF_ERROR(check("--project", o.projects, a.projects, Msg::kAppNoSuchProject));
  // Each is there, but not together.
  if (SelectsRuns(o) && a.runs.empty()) return Status::NotFound(Tr(lang, Msg::kAppNoSuchRun, path));
  return Status::Ok();
}

/// One line that is written over, on a terminal only.
class Progress {
 public:
  Progress(Environment* env, Lang lang) : env_(env), lang_(lang) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (width_ > 0) env_->err->Write("\r" + std::string(static_cast<size_t>(width_), ' ') + "\r");
  }
  void Show(double share) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int percent = static_cast<int>(std::clamp(share, 0.0, 1.0) * 100);
    if (percent == last_ || percent >= 100) return;
    last_ = percent;
    const std::string line = Tr(lang_, Msg::kAppProgress, percent);
    width_ = std::max(width_, DisplayWidth(line));
    env_->err->Write("\r" + line);
  }

 private:
  Environment* env_;
  Lang lang_;
  std::mutex mutex_;
  int last_ = -1, width_ = 0;
};

}  // namespace

int Fail(Environment* env, const Status& status) {
  env->err->Write("sawbill: error: " + status.message() + "\n");
  return status.exit_code();
}

void Note(Environment* env, const std::string& text) { env->err->Write("sawbill: " + text + "\n"); }

Status Deliver(const Options& options, const Settings& settings, const std::string& text, Environment* env) {
  if (!options.output || *options.output == "-" || *options.output == "/dev/stdout") {
    env->out->Write(text);
    return Status::Ok();
  }
  // A file is replaced as a whole: a device would be, too.
  if (StartsWith(*options.output, "/dev/"))
    return Status::Invalid(Tr(settings.lang, Msg::kAppOutputDevice, *options.output));
  const Status written = env->fs->WriteAtomically(*options.output, text);
  return written.At("-o");
}

Result<rules::RuleSet> LoadRules(const Settings& settings, Environment* env) {
  rules::RuleSet rules = rules::DefaultRules();
  for (const std::string& path : settings.rule_files) {
    const auto bytes = env->fs->Map(path);
    if (!bytes.ok())
      return Status(bytes.status().kind(), Tr(settings.lang, Msg::kAppNoRules, bytes.status().message()));
    SAWBILL_ASSIGN_OR_RETURN(rules, rules::ParseRules((*bytes)->bytes(), path, std::move(rules), false));
  }
  return rules;
}

Result<analysis::Analysis> AnalyzeInput(Input* input, const Options& options, const Settings& settings,
                                        const rules::RuleSet& rules, bool keep_trials, Environment* env) {
  sys::KeepFreedMemory();
  input->unread = analysis::UnreadBy(rules);
  analysis::Options o;
  SAWBILL_ASSIGN_OR_RETURN(const auto source, OpenTelemetry(input, settings, &o.clip));
  if (!options.gpus.empty() || !options.labels.empty()) {
    const auto& cards = source->cards();
    if (std::none_of(cards.begin(), cards.end(), [&](const auto& c) { return CardWanted(options, c); })) {
      const report::CardLabels labels(cards);
      std::vector<std::string> names;
      for (size_t k = 0; k < cards.size(); ++k) names.push_back(labels.Label(k));
      if (names.size() > 16) names.resize(16), names.emplace_back("...");
      return Status::NotFound(Tr(settings.lang, Msg::kAppNoSuchCard, input->name, Sanitize(Join(names, ", "))));
    }
  }
  constexpr int64_t kKeepBytes = int64_t{176} << 20;
  o.after_piece = [] { sys::ReleaseFreeMemory(kKeepBytes); };
  o.lang = settings.lang;
  o.tz = settings.tz;
  o.rules = &rules;
  o.threads = env->threads;
  o.keep_trials = keep_trials;
  if (!options.gpus.empty() || !options.labels.empty()) {
    o.card_filter = [&options](const model::CardInfo& c) { return CardWanted(options, c); };
  }
  o.cuts = settings.prices.Changes();
  if (SelectsRuns(options)) {
    o.run_filter = [&options](const analysis::RunFacts& r) { return RunWanted(options, r); };
  }
  Progress progress(env, settings.lang);
  if (env->err_is_terminal) o.progress = [&progress](double share) { progress.Show(share); };
  SAWBILL_ASSIGN_OR_RETURN(analysis::Analysis analysis, analysis::Analyze(*source, o));
  SAWBILL_RETURN_IF_ERROR(CheckNames(options, input->name, analysis, settings.lang));
  return analysis;
}

Result<report::Report> ReportInput(Input* input, const Options& options, const Settings& settings,
                                   const rules::RuleSet& rules, Environment* env) {
  SAWBILL_ASSIGN_OR_RETURN(const analysis::Analysis analysis,
                           AnalyzeInput(input, options, settings, rules, false, env));
  report::BuildOptions o;
  o.lang = settings.lang;
  o.tz = settings.tz;
  o.currency = settings.currency;
  o.prices = &settings.prices;
  o.min_saving_share = settings.min_saving.share;
  o.min_saving_amount = settings.min_saving.amount;
  o.by = settings.by;
  o.generated = env->now;
  return report::Build(analysis, o);
}

double WasteShare(const report::Report& r) {
  double share = 0;
  for (const report::LedgerRow& row : r.ledger) {
    const bool no_waste = row.line == model::Line::kUseful || row.line == model::Line::kUnmeasured ||
                          row.line == model::Line::kUnexplained;
    if (!no_waste) share += row.share;
  }
  return share;
}

}  // namespace sawbill::app
