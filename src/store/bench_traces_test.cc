// SPDX-License-Identifier: Apache-2.0
// The labelled traces beside the project, where they are: every row of every file must be read, and nothing be odd but
// what the traces' own description announces (doubled ticks).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/text.h"
#include "store/day_file.h"
#include "store/test_util.h"
#include "sys/file.h"

namespace sawbill::store {
namespace {

/// Rows of a compressed file, counted the plainest way.
size_t CountRows(sys::FileSystem* fs, const std::string& path) {
  const auto data = fs->Map(path);
  EXPECT_TRUE(data.ok());
  sys::LineReader lines(sys::OpenBytes((*data)->bytes()));
  std::string_view line;
  size_t n = 0;
  while (lines.Next(&line)) n += line.empty() || line.front() == 't' ? 0 : 1;
  EXPECT_TRUE(lines.status().ok());
  return n;
}

TEST(BenchTraces, EveryRowIsReadAndNothingUnexpectedIsOdd) {
  const std::string root = std::string(SAWBILL_SOURCE_DIR) + "/../shared/bench/traces";
  const std::unique_ptr<sys::FileSystem> fs = sys::MakeRealFileSystem();
  const auto traces = fs->List(root);
  if (!traces.ok()) GTEST_SKIP() << "no labelled traces at " << root;
  ASSERT_FALSE(traces->empty());
  for (const sys::FileInfo& trace : *traces) {
    SCOPED_TRACE(trace.name);
    const std::string dir = sys::JoinPath(root, trace.name);
    size_t gpu_rows = 0, host_rows = 0, process_rows = 0;
    const auto files = fs->List(dir);
    ASSERT_TRUE(files.ok());
    for (const sys::FileInfo& f : *files) {
      const std::optional<DayFileName> name = ParseDayFileName(f.name);
      if (!name) continue;
      const size_t rows = CountRows(fs.get(), sys::JoinPath(dir, f.name));
      if (name->kind == DayKind::kGpu) gpu_rows += rows;
      if (name->kind == DayKind::kHost) host_rows += rows;
      if (name->kind == DayKind::kProcess) process_rows += rows;
    }
    const auto source = MustOpen(fs.get(), dir);
    ASSERT_EQ(source->pieces().size(), 1U);
    const model::Recording r = MustRead(*source);
    EXPECT_TRUE(r.simulated);
    EXPECT_EQ(r.gpus.size(), source->cards().size());
    size_t gpus = 0, hosts = 0;
    for (const model::GpuTrack& g : r.gpus) {
      gpus += g.size();
      EXPECT_EQ(g.t_ms.front() >= source->period().from && g.t_ms.back() <= source->period().to, true);
      EXPECT_FALSE(g.card.uuid.empty());
    }
    for (const model::HostTrack& h : r.hosts) hosts += h.size();
    const auto doubled = static_cast<size_t>(r.quality.count(model::Odd::kDuplicateSample));
    EXPECT_EQ(gpus + hosts + doubled, gpu_rows + host_rows);
    EXPECT_EQ(r.processes.size(), process_rows);
    for (size_t o = 0; o < model::kOdds; ++o) {
      const auto odd = static_cast<model::Odd>(o);
      if (odd == model::Odd::kDuplicateSample) continue;
      EXPECT_EQ(r.quality.count(odd), 0) << model::Info(odd).name << " " << r.quality.detail(odd);
    }
  }
}

}  // namespace
}  // namespace sawbill::store
