// SPDX-License-Identifier: Apache-2.0
// A day of recording under a clock that does not wait: 8 cards, 64 processes that come and go, 86,400 ticks of the real
// collector on the scripted driver, into real day files. Prints what grew. Time stands still between ticks, so this
// says nothing of CPU time (bench/collector_bench does).
//
//   sawbill-collector-day [LIBRARY] [HOURS]
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/numbers.h"
#include "collect/collector.h"
#include "sys/dynamic_library.h"

namespace sawbill {
namespace {

constexpr TimeMs kStart = 1'772'323'200'000;  // 2026-03-01T00:00:00Z

std::string Script() {
  std::string out;
  for (int card = 0; card < 8; ++card) {
    out +=
        "[[card]]\nmodel = \"H100\"\nsm_util = \"95x40 5x3 80x20\"\npower_w = \"650x40 120x3 600x20\"\nmem_used_mib = "
        "61000\n";
    for (int p = 0; p < 96; ++p) {  // each lives for two hours, eight at a time
      out += fmt::format("[[card.process]]\npid = {}\nmem_mib = 7000\nsm_util = 11\nfrom_s = {}\nuntil_s = {}\n",
                         4'000'000 + 100 * card + p, 900 * p, 900 * p + 7200);
    }
  }
  return out + "[[fault]]\nkind = \"lost\"\ncard = 3\nat = 30000\nuntil = 33600\n";
}

int Fail(const std::string& what) {
  fmt::print(stderr, "collector_day: {}\n", what);
  return 3;
}

int Run(const std::string& library_path, int hours) {
  ::mallopt(M_ARENA_MAX, 1);  // as the recorder does
  const auto library = sys::OpenLibrary(library_path);
  if (!library.ok()) return Fail(library.status().message());
  const auto function = [&](const char* name) { return (*library)->Find(name); };
  auto* load = reinterpret_cast<int (*)(const char*)>(function("sawbill_sim_load"));
  auto* set_time = reinterpret_cast<void (*)(double)>(function("sawbill_sim_set_time"));
  if (load == nullptr || set_time == nullptr) return Fail(library_path + " is not the scripted driver");
  if (load(Script().c_str()) != 0) return Fail("the script is refused");
  const std::string dir = (std::filesystem::temp_directory_path() / fmt::format("sawbill-day-{}", ::getpid())).string();
  const auto fs = sys::MakeRealFileSystem();
  auto writer = store::FolderWriter::Open(fs.get(), dir, {});
  if (!writer.ok()) return Fail(writer.status().message());
  collect::CollectorOptions o;
  o.node = "bench";
  gpu::NvmlOptions nvml;
  nvml.library = library_path;
  sys::SelfUsage early, late;
  int64_t lost = 0;
  {
    collect::Collector collector(o, {gpu::MakeNvmlSource(nvml), sys::MakeRealProcFiles(), writer->get(), {}, {}});
    for (int64_t s = 0; s < 3600LL * hours; ++s) {
      set_time(static_cast<double>(s));
      collector.Tick({kStart + 1000 * s, 1000 * s, 1'000'000 * s});
      if (s == 3600) early = sys::ReadSelfUsage();
    }
    late = sys::ReadSelfUsage();
    lost = collector.state().lost_ticks;
  }
  std::filesystem::remove_all(dir);
  const auto mb = [](const std::optional<int64_t>& bytes) { return static_cast<double>(bytes.value_or(0)) / 1048576; };
  fmt::print("collector_day_rss {:.1f} MB -\n", mb(late.rss_bytes));
  fmt::print("collector_day_rss_growth {:.2f} MB -\n", mb(late.rss_bytes) - mb(early.rss_bytes));
  fmt::print("collector_day_fds_growth {} count -\n", late.open_fds.value_or(0) - early.open_fds.value_or(0));
  fmt::print("collector_day_lost_ticks {} count -\n", lost);
  return 0;
}

}  // namespace
}  // namespace sawbill

int main(int argc, char** argv) {
  const std::string library = argc > 1 ? argv[1] : "build/release/simulator/nvml/libnvidia-ml.so.1";
  const auto hours = argc > 2 ? sawbill::ParseInt(argv[2]) : std::optional<int64_t>(24);
  if (!hours || *hours < 2 || *hours > 24 * 31) return sawbill::Fail("HOURS: 2 to 744");
  return sawbill::Run(library, static_cast<int>(*hours));
}
