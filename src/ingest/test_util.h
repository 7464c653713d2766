// SPDX-License-Identifier: Apache-2.0
// For this room's tests: a text becomes a file in memory and is opened as a user's file would be.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ingest/open.h"
#include "sys/mem_fs.h"

namespace sawbill::ingest {

inline Result<model::Recording> TryRead(const std::string& text, const std::string& zone = "UTC") {
  sys::MemFileSystem fs;
  fs.Put("/log.csv", text);
  IngestOptions options;
  if (const auto tz = TimeZone::Load(zone)) options.tz = *tz;
  auto source = OpenFile(&fs, "/log.csv", options);
  if (!source.ok()) return source.status();
  return (*source)->Read(0);
}

inline model::Recording ReadText(const std::string& text, const std::string& zone = "UTC") {
  auto r = TryRead(text, zone);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? std::move(r).value() : model::Recording{};
}

inline std::string Refusal(const std::string& text) {
  const auto r = TryRead(text);
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.status().kind(), StatusKind::kUnsupported);
  return r.ok() ? "" : r.status().message();
}

inline std::string ExplainText(const std::string& text, Lang lang = Lang::kEn) {
  sys::MemFileSystem fs;
  fs.Put("/log.csv", text);
  IngestOptions options;
  options.lang = lang;
  const auto r = ExplainFormat(&fs, "/log.csv", options);
  EXPECT_TRUE(r.ok());
  return r.ok() ? *r : "";
}

/// Readings of one card as text: "40 - 7" with '-' for what is missing.
inline std::string Values(const model::Recording& r, size_t gpu, model::GpuMetric m) {
  std::string out;
  if (gpu >= r.gpus.size()) return "no such card";
  for (size_t i = 0; i < r.gpus[gpu].size(); ++i) {
    const float v = r.gpus[gpu].At(m, i);
    if (i > 0) out += ' ';
    out += IsMissing(v) ? "-" : FormatShortest(std::round(static_cast<double>(v) * 1000) / 1000);
  }
  return out;
}

inline int64_t Odds(const model::Recording& r, model::Odd o) { return r.quality.count(o); }

}  // namespace sawbill::ingest
