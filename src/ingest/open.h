// SPDX-License-Identifier: Apache-2.0
// A foreign telemetry file (or a single Sawbill day file) by its path: recognised by content, read whole, served as a
// source of one piece. Plain, .gz and .zst.
#pragma once

#include <memory>
#include <string>

#include "base/messages.h"
#include "base/status.h"
#include "base/time.h"
#include "model/recording.h"
#include "sys/file.h"

namespace sawbill::ingest {

struct IngestOptions {
  TimeZone tz = TimeZone::Utc();  // of times that carry no zone
  Lang lang = Lang::kEn;          // of notes and explanations
  std::string name;               // what messages call the file; "" = its path
};

/// The whole file. kUnsupported when no reader knows the content (the message says what was seen, what is accepted and
/// what to do) or when what is in it cannot be told apart soundly; kNotFound and kIo as the file system says.
Result<model::Recording> ReadFile(sys::FileSystem* fs, const std::string& path, const IngestOptions& options);
/// A recording in memory as a source of one piece.
std::unique_ptr<model::TelemetrySource> SourceOf(model::Recording recording);
Result<std::unique_ptr<model::TelemetrySource>> OpenFile(sys::FileSystem* fs, const std::string& path,
                                                         const IngestOptions& options);
/// The file is a tar archive, packed or not: see archive.h.
bool IsArchive(sys::FileSystem* fs, const std::string& path);

/// What was recognised, how surely, and what each column was taken for: `diagnose --explain-format FILE`. Several
/// lines, for a person. A file that is not recognised gets an explanation too; only a file that cannot be read is an
/// error.
Result<std::string> ExplainFormat(sys::FileSystem* fs, const std::string& path, const IngestOptions& options);

}  // namespace sawbill::ingest
