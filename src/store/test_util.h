// SPDX-License-Identifier: Apache-2.0
// Helpers of this room's tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/day_kinds.h"
#include "store/day_reader.h"
#include "store/folder_writer.h"
#include "sys/decompress.h"
#include "sys/mem_fs.h"

namespace sawbill::store {

inline constexpr TimeMs kNoon = 1767268800000;      // 2026-01-01T12:00:00Z
inline constexpr TimeMs kMidnight = 1767312000000;  // 2026-01-02T00:00:00Z

inline GpuValues NoGpuValues() {
  GpuValues v;
  v.fill(kMissing);
  return v;
}
inline GpuValues GpuWith(model::GpuMetric m, double value) {
  GpuValues v = NoGpuValues();
  v[static_cast<size_t>(m)] = value;
  return v;
}
inline GpuValues Util(double percent) { return GpuWith(model::GpuMetric::kSmUtil, percent); }

inline std::unique_ptr<model::TelemetrySource> MustOpen(sys::FileSystem* fs, const std::string& dir,
                                                        const DataFolderOptions& options = {}) {
  Result<std::unique_ptr<model::TelemetrySource>> source = OpenDataFolder(fs, dir, options);
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? std::move(source).value() : nullptr;
}

inline model::Recording MustRead(const model::TelemetrySource& source, size_t piece = 0) {
  Result<model::Recording> r = source.Read(piece);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? std::move(r).value() : model::Recording{};
}

/// The whole folder, which must be one piece.
inline model::Recording ReadOnePiece(sys::FileSystem* fs, const std::string& dir,
                                     const DataFolderOptions& options = {}) {
  const auto source = MustOpen(fs, dir, options);
  if (source == nullptr) return {};
  EXPECT_EQ(source->pieces().size(), 1U);
  return source->pieces().empty() ? model::Recording{} : MustRead(*source);
}

inline std::unique_ptr<FolderWriter> MustOpenWriter(sys::FileSystem* fs, const std::string& dir,
                                                    const FolderWriterOptions& options = {}) {
  Result<std::unique_ptr<FolderWriter>> w = FolderWriter::Open(fs, dir, options);
  EXPECT_TRUE(w.ok()) << w.status().message();
  return w.ok() ? std::move(w).value() : nullptr;
}

/// Covered seconds of each card, pieces taken together.
inline std::map<std::string, double> CoveredSeconds(const model::TelemetrySource& source) {
  std::map<std::string, double> out;
  for (size_t i = 0; i < source.pieces().size(); ++i) {
    const model::Recording r = MustRead(source, i);
    for (const model::GpuTrack& g : r.gpus) out[g.card.key()] += model::Cover(g.t_ms).covered_s;
  }
  return out;
}

inline std::string Seconds3(TimeMs t) {
  std::string s;
  AppendTimestamp(t, &s);
  return s;
}

/// A short gpu file: `rows` lines of "gpu,sm_util" at 1 Hz from `from`.
inline std::string ShortGpuFile(TimeMs from, int seconds, int gpus = 1) {
  std::string text = "timestamp,gpu,sm_util,power_w\n";
  for (int s = 0; s < seconds; ++s) {
    for (int g = 0; g < gpus; ++g) {
      text +=
          Seconds3(from + s * 1000LL) + "," + std::to_string(g) + "," + std::to_string((s * 7 + g) % 101) + ",250.5\n";
    }
  }
  return text;
}

}  // namespace sawbill::store
