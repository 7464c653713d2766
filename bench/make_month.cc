// SPDX-License-Identifier: Apache-2.0
// sawbill-make-month: a month of day files at 1 Hz, fast enough to make before each measurement (20.7 M rows for 8
// cards).
//
// The month is synthetic, and coarser than a simulation: a few dozen stretches of one or two hours are simulated
// event by event (simulator/), kept as text, and laid one after another on lanes of 4, 2 and 1 cards, each time as
// another job of another user. Time, energy counter, process ids, users and job names are made anew for each row, so no
// two rows are equal; waveforms repeat. That is right for measuring how fast files are read, and wrong for judging
// diagnosis.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/status.h"
#include "base/time.h"
#include "simulator/scenarios.h"

namespace sawbill::simulator {
namespace {

using model::GpuMetric;
using model::HostMetric;
using model::ProcessMetric;

constexpr const char* kUsage =
    R"(usage: sawbill-make-month --out DIR [--days 30] [--cards 8] [--start 2026-01-01] [--seed 1]
Writes gpu, host and process day files (plain CSV, 1 Hz, UTC days) and inventory.csv. Synthetic: see the head of make_month.cc.
)";

/// One simulated stretch, ready to be written: everything of a row that does not depend on when and where it is played.
struct Tile {
  int cards = 1;
  size_t seconds = 0;
  std::string text;  // pieces of gpu rows, end to end
  struct Row {
    uint32_t begin, energy, end;  // [begin, energy) stands before the energy cell, [energy, end) after it
    float power_w;
  };
  std::vector<std::vector<Row>> rows;  // by card, by second
  struct Host {
    float cores, iowait_cores, load, read, write, rx, tx, psi_cpu, psi_io;
  };
  std::vector<Host> host;
  struct ProcessRow {
    size_t second;
    int card, process;
    double started;
    std::string before, after;  // of the cell `started`
  };
  std::vector<ProcessRow> processes;  // by second
  std::string program;
};

std::string_view Cells(std::string_view row, size_t skip) {  // what follows after `skip` cells, with its comma
  size_t at = 0;
  for (; skip > 0; --skip) at = row.find(',', at + 1);
  return row.substr(at);
}

void AddGpuRow(const GpuReading& r, Tile* tile) {
  std::string row;
  AppendRow(r, 0, &row);
  const std::string_view rest = Cells(row, 2);  // after timestamp and gpu
  const size_t energy = rest.size() - Cells(rest, static_cast<size_t>(GpuMetric::kEnergyJ)).size();
  const size_t after = rest.find(',', energy + 1);
  Tile::Row out{};
  out.begin = static_cast<uint32_t>(tile->text.size());
  tile->text += rest.substr(0, energy + 1);
  out.energy = static_cast<uint32_t>(tile->text.size());
  tile->text += rest.substr(after);
  out.end = static_cast<uint32_t>(tile->text.size());
  out.power_w = static_cast<float>(r.value[static_cast<size_t>(GpuMetric::kPowerW)]);
  tile->rows[static_cast<size_t>(r.gpu)].push_back(out);
}

Tile MakeTile(const char* scenario, int cards, uint64_t seed, double hours) {
  Options options;
  options.seed = seed;
  options.cards = cards;
  options.hours = hours;
  options.card = FindCard("h100");
  Simulation s = Simulate(*FindScenario(scenario), options);
  s.measure = MeasureSpec{};
  s.measure.drop_share = 0;
  s.measure.jitter_s = 0;
  const Readings readings = Measure(s.world, *s.model, s.measure, Rng(seed));
  Tile tile;
  tile.cards = cards;
  tile.rows.resize(static_cast<size_t>(cards));
  for (const GpuReading& r : readings.gpu) {
    if (r.gpu < cards) AddGpuRow(r, &tile);
  }
  tile.seconds = tile.rows[0].size();
  for (const HostReading& r : readings.host) {
    const auto at = [&r](HostMetric m) { return static_cast<float>(r.value[static_cast<size_t>(m)]); };
    const float cores = at(HostMetric::kCpuCount) / 100;
    tile.host.push_back({at(HostMetric::kCpuUtil) * cores, at(HostMetric::kCpuIowait) * cores, at(HostMetric::kLoad1),
                         at(HostMetric::kDiskReadMbS), at(HostMetric::kDiskWriteMbS), at(HostMetric::kNetRxMbS),
                         at(HostMetric::kNetTxMbS), at(HostMetric::kPsiCpuSome), at(HostMetric::kPsiIoSome)});
  }
  for (const ProcessReading& r : readings.process) {
    if (r.gpu < 0 || r.gpu >= cards) continue;
    std::string row;
    AppendRow(r, s.world, 0, &row);
    const std::string_view rest = Cells(row, 6);  // after timestamp,gpu,pid,user,name,job
    const std::string_view started = Cells(rest, static_cast<size_t>(ProcessMetric::kStarted));
    tile.processes.push_back({static_cast<size_t>(r.t), r.gpu, static_cast<int>(r.process),
                              r.value[static_cast<size_t>(ProcessMetric::kStarted)],
                              std::string(rest.substr(0, rest.size() - started.size() + 1)),
                              std::string(started.substr(started.find(',', 1)))});
    tile.program = s.world.processes[r.process].name;
  }
  return tile;
}

std::vector<Tile> MakeTiles(int cards, Rng* rng) {
  // More of what is common: about half of the time nothing is wrong.
  std::vector<const char*> scenarios = {"healthy",    "healthy",    "healthy",   "healthy", "few-workers", "checkpoint",
                                        "evaluation", "host-bound", "idle-held", "unused",  "sweep-gaps",  "thermal"};
  if (cards > 1) scenarios.insert(scenarios.end(), {"communication", "straggler"});
  std::vector<Tile> tiles;
  for (const char* scenario : scenarios) {
    const double hours = rng->Uniform(0.7, 2);
    tiles.push_back(MakeTile(scenario, cards, rng->Next(), hours));
  }
  return tiles;
}

/// Some neighbouring cards on which one stretch after another is played.
struct Lane {
  int first_card = 0, cards = 1;
  const std::vector<Tile>* tiles = nullptr;
  const Tile* now = nullptr;
  size_t second = 0, next_process = 0;
  TimeMs began = 0;
  int pid = 0;
  std::string user, job;
};

struct Spec {
  std::string out, start = "2026-01-01";
  int days = 30, cards = 8;
  uint64_t seed = 1;
};

/// A file written in large pieces.
class Sink {
 public:
  explicit Sink(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    buffer.reserve(kPiece + 4096);
  }
  ~Sink() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  void Breathe() {
    if (buffer.size() >= kPiece) Flush();
  }
  Status Close() {
    Flush();
    const bool good = file_ != nullptr && !failed_ && std::fclose(file_) == 0;
    file_ = nullptr;
    return good ? Status::Ok() : Status::Io(path_ + ": could not be written");
  }
  std::string buffer;

 private:
  static constexpr size_t kPiece = 1 << 20;
  void Flush() {
    if (file_ == nullptr || std::fwrite(buffer.data(), 1, buffer.size(), file_) != buffer.size()) failed_ = true;
    buffer.clear();
  }
  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
};

void Digits(uint64_t v, std::string* out) {
  std::array<char, 20> text;
  auto at = text.end();
  do {
    *--at = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v > 0);
  out->append(at, text.end());
}

class Month {
 public:
  Month(const Spec& spec, TimeMs start) : spec_(spec), start_(start), rng_(Rng(spec.seed).Fork("month")) {
    for (int width : {1, 2, 4}) tiles_.push_back(MakeTiles(width, &rng_));
    const int widths[] = {4, 2, 1, 1};
    for (int card = 0, i = 0; card < spec.cards; ++i) {
      int width = widths[i % 4];
      while (width > spec.cards - card) width /= 2;
      Lane lane;
      lane.first_card = card;
      lane.cards = width;
      lane.tiles = &tiles_[width == 4 ? 2 : static_cast<size_t>(width - 1)];
      lanes_.push_back(lane);
      card += width;
    }
    for (int c = 0; c < spec.cards; ++c) energy_tenths_.push_back(static_cast<uint64_t>(rng_.Uniform(1e7, 9e9)));
  }

  Status Write() {
    for (int day = 0; day < spec_.days; ++day) SAWBILL_RETURN_IF_ERROR(WriteDay(day));
    return Status::Ok();
  }

 private:
  void Begin(Lane* lane, TimeMs now) {
    lane->now = &(*lane->tiles)[static_cast<size_t>(rng_.Int(0, static_cast<int>(lane->tiles->size()) - 1))];
    lane->second = static_cast<size_t>(lane->began == 0 ? rng_.Int(0, static_cast<int>(lane->now->seconds) / 2) : 0);
    lane->next_process = 0;
    lane->began = now - static_cast<TimeMs>(lane->second) * 1000;
    static constexpr const char* kUsers[] = {"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"};
    lane->user = kUsers[rng_.Int(0, 7)];
    lane->job = fmt::format("{}-{}", lane->user, ++jobs_);
    lane->pid = rng_.Int(2000, 4000000);
  }

  Status WriteDay(int day) {
    const TimeMs begin = start_ + static_cast<TimeMs>(day) * 86400000;
    const std::string date = FormatRfc3339(begin).substr(0, 10);
    Sink gpu(fmt::format("{}/gpu-{}.csv", spec_.out, date)), host(fmt::format("{}/host-{}.csv", spec_.out, date)),
        process(fmt::format("{}/process-{}.csv", spec_.out, date));
    gpu.buffer = GpuHeader();
    host.buffer = HostHeader();
    process.buffer = ProcessHeader();
    for (int second = 0; second < 86400; ++second) {
      const TimeMs tick = begin + second * 1000LL;
      for (Lane& lane : lanes_) {
        if (lane.now == nullptr || lane.second >= lane.now->seconds) Begin(&lane, tick);
      }
      GpuRows(tick + rng_.Int(0, 24), &gpu.buffer);
      HostRow(tick, &host.buffer);
      for (Lane& lane : lanes_) {
        ProcessRows(tick, &lane, &process.buffer);
        ++lane.second;
      }
      gpu.Breathe();
      host.Breathe();
      process.Breathe();
    }
    SAWBILL_RETURN_IF_ERROR(gpu.Close());
    SAWBILL_RETURN_IF_ERROR(host.Close());
    return process.Close();
  }

  static void Stamp(TimeMs t, std::string* out) {
    Digits(static_cast<uint64_t>(t / 1000), out);
    const auto ms = static_cast<int>(t % 1000);
    const char cells[] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10),
                          static_cast<char>('0' + ms % 10)};
    out->append(cells, 4);
  }

  void GpuRows(TimeMs t, std::string* out) {
    std::string stamp;
    Stamp(t, &stamp);
    for (const Lane& lane : lanes_) {
      for (int c = 0; c < lane.cards; ++c) {
        const int card = lane.first_card + c;
        const Tile::Row& row = lane.now->rows[static_cast<size_t>(c)][lane.second];
        uint64_t& tenths = energy_tenths_[static_cast<size_t>(card)];
        tenths += static_cast<uint64_t>(row.power_w * 10);
        out->append(stamp);
        out->push_back(',');
        Digits(static_cast<uint64_t>(card), out);
        out->append(lane.now->text, row.begin, row.energy - row.begin);
        Digits(tenths / 10, out);
        out->push_back('.');
        out->push_back(static_cast<char>('0' + tenths % 10));
        out->append(lane.now->text, row.energy, row.end - row.energy);
      }
    }
  }

  void HostRow(TimeMs t, std::string* out) const {
    Tile::Host sum{};
    for (const Lane& lane : lanes_) {
      const Tile::Host& h = lane.now->host[std::min(lane.second, lane.now->host.size() - 1)];
      sum.cores += h.cores;
      sum.iowait_cores += h.iowait_cores;
      sum.load += h.load;
      sum.read += h.read;
      sum.write += h.write;
      sum.rx += h.rx;
      sum.tx += h.tx;
      sum.psi_cpu = std::max(sum.psi_cpu, h.psi_cpu);
      sum.psi_io = std::max(sum.psi_io, h.psi_io);
    }
    const int cores = 16 * spec_.cards;
    const float util = std::min(100.0F, 100 * sum.cores / static_cast<float>(cores));
    const float iowait = std::min(100 - util, 100 * sum.iowait_cores / static_cast<float>(cores));
    Stamp(t, out);
    fmt::format_to(std::back_inserter(*out),
                   ",{},{:.1f},{:.1f},{:.2f},{:.0f},2064000,{:.1f},{:.1f},{:.1f},{:.2f},{:.2f},{},{:.2f},{:.2f},0.00\n",
                   cores, util, iowait, sum.load, 190000 + 3000 * sum.load, sum.read, sum.write,
                   std::min(100.0F, (sum.read + sum.write) / 40), sum.rx, sum.tx, cores / 2, sum.psi_cpu, sum.psi_io);
  }

  /// All lanes at once every ten seconds, as a recorder does; a tile's rows stand in for up to ten seconds after them.
  static void ProcessRows(TimeMs t, Lane* lane, std::string* out) {
    if (t / 1000 % 10 != 0) return;
    const auto& rows = lane->now->processes;
    while (lane->next_process < rows.size() && rows[lane->next_process].second + 10 <= lane->second)
      ++lane->next_process;
    for (size_t i = lane->next_process; i < rows.size() && rows[i].second <= lane->second; ++i) {
      const Tile::ProcessRow& row = rows[i];
      Stamp(t, out);
      fmt::format_to(std::back_inserter(*out), ",{},{},{},{},{}{}{}{}", lane->first_card + row.card,
                     lane->pid + row.process, lane->user, lane->now->program, lane->job, row.before,
                     lane->began / 1000 + static_cast<TimeMs>(row.started), row.after);
    }
  }

  Spec spec_;
  TimeMs start_;
  Rng rng_;
  std::vector<std::vector<Tile>> tiles_;
  std::vector<Lane> lanes_;
  std::vector<uint64_t> energy_tenths_;
  int jobs_ = 0;
};

Status WriteWhole(const std::string& path, const std::string& bytes) {
  Sink sink(path);
  sink.buffer = bytes;
  return sink.Close();
}

Result<Spec> Parse(const std::vector<std::string>& args) {
  Spec spec;
  for (size_t i = 0; i + 1 < args.size(); i += 2) {
    const auto number = ParseInt(args[i + 1]);
    if (args[i] == "--out") {
      spec.out = args[i + 1];
    } else if (args[i] == "--start") {
      spec.start = args[i + 1];
    } else if (args[i] == "--days" && number && *number >= 1 && *number <= 3660) {
      spec.days = static_cast<int>(*number);
    } else if (args[i] == "--cards" && number && *number >= 1 && *number <= 1024) {
      spec.cards = static_cast<int>(*number);
    } else if (args[i] == "--seed" && number && *number >= 0) {
      spec.seed = static_cast<uint64_t>(*number);
    } else {
      return Status::Invalid(args[i] + ": unknown, or its value is out of range");
    }
  }
  if (args.size() % 2 != 0) return Status::Invalid(args.back() + ": a value is missing");
  if (spec.out.empty()) return Status::Invalid("--out is needed");
  return spec;
}

Status Run(const std::vector<std::string>& args) {
  SAWBILL_ASSIGN_OR_RETURN(const Spec spec, Parse(args));
  const auto start = ParseCivil(spec.start);
  if (!start) return Status::Invalid("--start: give a date, for example 2026-01-01");
  std::error_code error;
  std::filesystem::create_directories(spec.out, error);
  if (error) return Status::Io(spec.out + ": " + error.message());
  const CardModel& model = *FindCard("h100");
  WriteSpec write;
  write.util_window_s = model.window_s;
  SAWBILL_RETURN_IF_ERROR(
      WriteWhole(spec.out + "/inventory.csv", InventoryCsv(model, static_cast<size_t>(spec.cards), write)));
  SAWBILL_RETURN_IF_ERROR(
      WriteWhole(spec.out + "/SIMULATED",
                 fmt::format("This recording is simulated, not measured: sawbill-make-month, {} days, seed {}.\n",
                             spec.days, spec.seed)));
  return Month(spec, UtcFromCivil(*start)).Write();
}

}  // namespace
}  // namespace sawbill::simulator

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    std::fputs(sawbill::simulator::kUsage, args.empty() ? stderr : stdout);
    return args.empty() ? 2 : 0;
  }
  const sawbill::Status status = sawbill::simulator::Run(args);
  if (!status.ok()) fmt::print(stderr, "sawbill-make-month: {}\n", status.message());
  return status.exit_code();
}
