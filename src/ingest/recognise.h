// SPDX-License-Identifier: Apache-2.0
// What a file is, by its content: the bytes made readable (unpacked, UTF-8, commas between cells), and every format's
// opinion of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ingest/format.h"
#include "ingest/stamps.h"
#include "ingest/wide_table.h"
#include "sys/decompress.h"
#include "sys/file.h"

namespace sawbill::ingest {

struct Candidate {
  const Format* format;
  double certainty;
};

/// The bytes of a file, and what they are taken for.
struct Opened {
  std::unique_ptr<sys::FileBytes> file;
  TimeMs modified_ms = 0;
  Status damage;          // of the first bytes
  std::string converted;  // instead of the file's bytes where not empty
  std::string sample;
  sys::Compression compression = sys::Compression::kNone;
  std::vector<Candidate> candidates;  // surest first
  DatesTold dates;
  std::optional<Stamped> stamps;  // that were put in, or taken off: `converted` is what became of the text
  std::optional<WideTable> wide;  // `converted` has a row for each card instead
  std::string_view bytes() const { return converted.empty() ? file->bytes() : converted; }
};

/// kNotFound and kIo as the file system says. A file that no format knows is no error: see `candidates`.
Result<Opened> Recognise(sys::FileSystem* fs, const std::string& path);

}  // namespace sawbill::ingest
