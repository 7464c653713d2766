// SPDX-License-Identifier: Apache-2.0
// Every reader of foreign files over arbitrary bytes: first as a user's file (recognised, read, explained), then forced
// on each reader, whatever it thinks of the bytes. Nothing may crash, and what comes out must keep the model's
// promises. With SAWBILL_FUZZ_READER=NAME ("nvidia-smi table") only that reader is run, many times faster;
// SAWBILL_FUZZ_READER=list prints the names.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ingest/archive.h"
#include "ingest/format.h"
#include "ingest/open.h"
#include "sys/mem_fs.h"

namespace {
using namespace sawbill;  // NOLINT(google-build-using-namespace): a test program of one file

void Check(const model::Recording& r) {
  for (const auto& g : r.gpus) {
    for (size_t i = 1; i < g.size(); ++i) {
      if (g.t_ms[i] <= g.t_ms[i - 1]) std::abort();
    }
    for (const auto& c : g.columns) {
      if (!c.empty() && c.size() != g.size()) std::abort();
    }
    if (!g.energy_j.empty() && g.energy_j.size() != g.size()) std::abort();
    for (size_t m = 0; m < model::kGpuMetrics; ++m) {
      const auto& info = model::Info(static_cast<model::GpuMetric>(m));
      for (const float v : g.columns[m]) {
        if (v < static_cast<float>(info.min) || v > static_cast<float>(info.max)) std::abort();
      }
    }
  }
  for (const auto& p : r.processes) {
    if (p.card >= static_cast<int32_t>(r.gpus.size())) std::abort();
  }
}

/// The reader of that name, or each in turn.
void Force(std::string_view bytes, std::string_view only) {
  const TimeZone tz = TimeZone::Utc();
  for (const ingest::Format* format : ingest::AllFormats()) {
    if (!only.empty() && format->name() != only) continue;
    ingest::ReadContext context;
    context.tz = &tz;
    context.file = "log";
    context.text_bytes = bytes.size();
    model::Recording recording;
    ingest::Explanation explanation;
    sys::LineReader lines(sys::OpenBytes(bytes, 4096));
    if (format->Read(&lines, context, &recording, &explanation).ok()) Check(recording);
  }
}
}  // namespace

/// A name that is no reader's would find nothing for ever.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const only = std::getenv("SAWBILL_FUZZ_READER");
  if (only == nullptr) return 0;
  const auto& all = ingest::AllFormats();
  if (std::string_view(only) == "list") {
    for (const ingest::Format* f : all) std::printf("%s\n", std::string(f->name()).c_str());
    std::exit(0);
  }
  if (std::any_of(all.begin(), all.end(), [&](const ingest::Format* f) { return f->name() == only; })) return 0;
  std::fprintf(stderr, "SAWBILL_FUZZ_READER: no reader is named '%s'\n", only);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const char* const only = std::getenv("SAWBILL_FUZZ_READER");
  if (only != nullptr) {
    Force(bytes, only);
    return 0;
  }
  sys::MemFileSystem fs;
  fs.Put("/log", std::string(bytes));
  ingest::IngestOptions options;
  options.lang = size % 2 == 0 ? Lang::kEn : Lang::kZh;
  const auto source = ingest::OpenFile(&fs, "/log", options);
  if (source.ok()) {
    const auto recording = (*source)->Read(0);
    if (recording.ok()) Check(*recording);
  }
  (void)ingest::ExplainFormat(&fs, "/log", options);
  Force(bytes, "");
  if (ingest::LooksLikeTar(bytes)) (void)ingest::OpenTar(bytes, options.lang, 1 << 24);
  return 0;
}
