// SPDX-License-Identifier: Apache-2.0
// sawbill-bench-diagnosis: a few hundred simulated runs with known truth, judged by Sawbill and by what today's tools
// publish as their thresholds. Simulated: it says how the rules do on this model of the world, not on the world.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "base/time.h"
#include "bench/diagnosis/baselines.h"
#include "bench/diagnosis/poorer.h"
#include "bench/diagnosis/product.h"
#include "bench/diagnosis/score.h"
#include "simulator/scenarios.h"
#include "simulator/write.h"

namespace sawbill::bench {
namespace {

constexpr double kPrice = 10;
constexpr const char* kUsage = R"(usage: sawbill-bench-diagnosis [options]
  --band B        which parts of the ranges are drawn: train, dev, test (default) or all
  --seeds N       runs of each scenario (default 6)
  --scenario S    only this one
  --runs          a line a run: scenario, seed, what was said
  --poorer        the same runs as plainer tools would have recorded them, Sawbill only: what is said that is not so
  --markdown      the tables as Markdown, for docs/benchmarks.md
One run again:    sawbill-simulate SCENARIO --seed N --band B --out DIR
)";

struct Setup {
  simulator::Band band = simulator::Band::kTest;
  std::string band_name = "test", scenario;
  int seeds = 6;
  bool runs = false, markdown = false, poorer = false;
};

struct Job {
  const simulator::ScenarioInfo* info;
  simulator::Options options;
};

struct Scores {
  RunScore sawbill;
  std::vector<RunScore> baselines;
  std::vector<PoorerScore> poorer;  // in the order of PoorerRecords(), or empty
};

Scores JudgeOne(const Job& job, bool poorer) {
  const simulator::Simulation s = simulator::Simulate(*job.info, job.options);
  simulator::WriteSpec write;
  write.start_ms = *ParseRfc3339("2026-03-02T01:00:00Z");
  write.packing = simulator::Packing::kPlain;
  write.price_per_gpu_hour = kPrice;
  write.seed = job.options.seed;
  write.util_window_s = s.measure.window_s > 0 ? s.measure.window_s : s.model->window_s;
  write.power_limit_share = s.measure.power_limit_share;
  const simulator::Readings readings =
      simulator::Measure(s.world, *s.model, s.measure, simulator::Rng(job.options.seed).Fork("instruments"));
  const std::vector<simulator::OutFile> files = simulator::Render(s.world, readings, *s.model, s.truth, write);
  Scores scores;
  scores.sawbill = Score(s, AskSawbill(files, kPrice), kPrice);
  if (poorer) {
    for (const PoorerRecord& record : PoorerRecords())
      scores.poorer.push_back(ScorePoorer(s, AskSawbill(MakePoorer(files, record), kPrice)));
    return scores;
  }
  for (const Baseline& b : Baselines()) {
    scores.baselines.push_back(Score(s, b.judge(readings, s.world.cards.size(), s.model->memory_mb), kPrice));
  }
  return scores;
}

std::vector<Job> Jobs(const Setup& setup) {
  std::vector<Job> jobs;
  for (const simulator::ScenarioInfo& info : simulator::Scenarios()) {
    if (std::string(info.name) == "demo") continue;  // one recording, not a scenario with ranges
    if (!setup.scenario.empty() && setup.scenario != info.name) continue;
    for (int i = 0; i < setup.seeds; ++i) {
      simulator::Options options;
      options.seed = static_cast<uint64_t>(1000 * static_cast<int>(setup.band) + i + 1);
      options.band = setup.band;
      jobs.push_back({&info, options});
    }
  }
  return jobs;
}

std::vector<Scores> JudgeAll(const std::vector<Job>& jobs, bool poorer) {
  std::vector<Scores> scores(jobs.size());
  std::atomic<size_t> next{0}, done{0};
  std::mutex out;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      scores[i] = JudgeOne(jobs[i], poorer);
      const std::lock_guard<std::mutex> lock(out);
      fmt::print(stderr, "\r{} of {} runs", ++done, jobs.size());
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < std::max(1U, std::thread::hardware_concurrency()); ++k) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  fmt::print(stderr, "\n");
  return scores;
}

std::string Cell(double v, int decimals = 3) { return IsMissing(v) ? "-" : FormatFixed(v, decimals); }

void PrintScenarios(const std::vector<Scores>& scores, bool markdown) {
  std::map<std::string, std::vector<RunScore>> by;
  for (const Scores& s : scores) by[s.sawbill.scenario].push_back(s.sawbill);
  if (markdown)
    fmt::print(
        "| scenario | runs | found | wrong | cause | ledger distance | saving error "
        "|\n|---|---|---|---|---|---|---|\n");
  for (const auto& [name, runs] : by) {
    const Summary s = Sum(runs);
    fmt::print(
        fmt::runtime(markdown ? "| {} | {} | {}/{} | {} | {} | {} | {} |\n"
                              : "{:26} n={:<3} found {:>3}/{:<3} wrong {:<3} cause {:<5} ledger {:<6} saving-err {}\n"),
        name, s.runs, s.hits, s.expected, s.wrong, Cell(s.cause, 2), Cell(s.ledger_distance),
        Cell(s.saving_median_error));
  }
}

void PrintRows(const std::vector<Scores>& scores, bool markdown) {
  std::vector<RunScore> own;
  for (const Scores& s : scores) own.push_back(s.sawbill);
  const Summary sawbill = Sum(own);
  if (markdown) {
    fmt::print(
        "\n| judge | precision | recall | F1 | false findings in 100 healthy GPU-hours |\n|---|---|---|---|---|\n");
  } else {
    fmt::print("\n{:38} {:>9} {:>7} {:>6} {:>28}\n", "", "precision", "recall", "F1", "false in 100 healthy GPU-h");
  }
  const auto row = [&](const std::string& name, const Summary& s) {
    fmt::print(fmt::runtime(markdown ? "| {} | {} | {} | {} | {} |\n" : "{:38} {:>9} {:>7} {:>6} {:>28}\n"), name,
               Cell(s.precision), Cell(s.recall), Cell(s.f1), Cell(s.false_per_100_healthy_hours, 2));
  };
  row("Sawbill", sawbill);
  double best = 0;
  for (size_t b = 0; b < Baselines().size(); ++b) {
    std::vector<RunScore> runs;
    for (const Scores& s : scores) runs.push_back(s.baselines[b]);
    const Summary s = Sum(runs);
    best = std::max(best, s.f1);
    row(Baselines()[b].name, s);
  }
  fmt::print("\n");
  const auto line = [&](const char* name, double value, const char* unit) {
    fmt::print(fmt::runtime(markdown ? "| {} | {} | {} |\n" : "{} {} {}\n"), name, Cell(value, 4), unit);
  };
  if (markdown) fmt::print("| figure | value | unit |\n|---|---|---|\n");
  line("runs", sawbill.runs, "count");
  line("crashed", sawbill.crashed, "count");
  line("unbalanced", sawbill.unbalanced, "count");
  line("f1", sawbill.f1, "ratio");
  line("f1_ahead_of_the_best_other", sawbill.f1 - best, "ratio");
  line("cause", sawbill.cause, "ratio");
  line("healthy_gpu_hours", sawbill.healthy_gpu_hours, "h");
  line("false_findings_in_100_healthy_gpu_hours", sawbill.false_per_100_healthy_hours, "count");
  line("ledger_distance", sawbill.ledger_distance, "ratio");
  line("saving_median_error", sawbill.saving_median_error, "ratio");
  line("saving_mean_error_all", sawbill.saving_mean_error_all, "ratio");
  line("saving_inside", sawbill.saving_inside, "ratio");
  line("saving_median_width", sawbill.saving_median_width, "ratio");
  line("saving_interval_score", sawbill.saving_interval_score, "ratio");
  line("period_median_error", sawbill.period_median_error, "ratio");
  line("slow_card_named", sawbill.slow_card, "ratio");
}

void PrintPoorerRuns(const std::vector<Job>& jobs, const std::vector<Scores>& scores) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (size_t k = 0; k < scores[i].poorer.size(); ++k) {
      if (!scores[i].poorer[k].wrong.empty())
        fmt::print("{:26} seed {:<6} {:28} {}\n", jobs[i].info->name, jobs[i].options.seed, PoorerRecords()[k].name,
                   scores[i].poorer[k].wrong);
    }
  }
}

void PrintPoorer(const std::vector<Scores>& scores, bool markdown) {
  const char* row = markdown ? "| {} | {} | {} | {} | {} |\n" : "{:28} {:>12} {:>20} {:>12} {:>20}\n";
  fmt::print(fmt::runtime(row), "record", "named", "on healthy runs", "wrong cause", "promised for nothing");
  if (markdown) fmt::print("|---|---|---|---|---|\n");
  for (size_t k = 0; k < PoorerRecords().size(); ++k) {
    PoorerScore sum;
    for (const Scores& s : scores) {
      const PoorerScore& one = s.poorer[k];
      sum.expected += one.expected, sum.named += one.named, sum.on_healthy += one.on_healthy;
      sum.wrong_cause += one.wrong_cause, sum.promised += one.promised;
    }
    fmt::print(fmt::runtime(row), PoorerRecords()[k].name, fmt::format("{} of {}", sum.named, sum.expected),
               sum.on_healthy, sum.wrong_cause, sum.promised);
  }
}

bool Parse(const std::vector<std::string>& args, Setup* setup) {
  for (size_t i = 0; i < args.size(); ++i) {
    const bool more = i + 1 < args.size();
    if (args[i] == "--runs") {
      setup->runs = true;
    } else if (args[i] == "--markdown") {
      setup->markdown = true;
    } else if (args[i] == "--poorer") {
      setup->poorer = true;
    } else if (args[i] == "--band" && more) {
      const auto band = simulator::FindBand(setup->band_name = args[++i]);
      if (!band) return false;
      setup->band = *band;
    } else if (args[i] == "--seeds" && more) {
      const auto n = ParseDouble(args[++i]);
      if (!n || *n < 1 || *n > 10000) return false;
      setup->seeds = static_cast<int>(*n);
    } else if (args[i] == "--scenario" && more) {
      setup->scenario = args[++i];
      if (simulator::FindScenario(setup->scenario) == nullptr) return false;
    } else {
      return false;
    }
  }
  return true;
}

int Main(const std::vector<std::string>& args) {
  Setup setup;
  if (!Parse(args, &setup)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::vector<Job> jobs = Jobs(setup);
  const std::vector<Scores> scores = JudgeAll(jobs, setup.poorer);
  if (setup.runs && !setup.poorer) {
    for (size_t i = 0; i < jobs.size(); ++i) {
      const RunScore& r = scores[i].sawbill;
      const bool well = r.hits == r.expected && r.wrong == 0 && r.cause_right == r.cause_asked && !r.unbalanced;
      fmt::print("{} {:26} seed {:<6} {} ledger {}", well ? "  " : "XX", r.scenario, jobs[i].options.seed,
                 r.got.empty() ? "-" : r.got, r.ledger_distance.empty() ? "-" : Cell(r.ledger_distance[0]));
      if (r.saving_asked) {
        fmt::print(" saving {} said {} [{}, {}]{}", Cell(r.saving_true), Cell(r.saving.expected), Cell(r.saving.low),
                   Cell(r.saving.high), r.saving_inside ? "" : " OUTSIDE");
      }
      fmt::print("\n");
    }
  }
  if (!setup.markdown) fmt::print("# simulated runs, band {}, {} seeds a scenario\n", setup.band_name, setup.seeds);
  if (setup.poorer) {
    if (setup.runs) PrintPoorerRuns(jobs, scores);
    PrintPoorer(scores, setup.markdown);
    return 0;
  }
  PrintScenarios(scores, setup.markdown);
  PrintRows(scores, setup.markdown);
  return 0;
}

}  // namespace
}  // namespace sawbill::bench

int main(int argc, char** argv) { return sawbill::bench::Main({argv + 1, argv + argc}); }
