// SPDX-License-Identifier: Apache-2.0
// A .tar (also packed: .tar.gz, .tar.zst) as a folder in memory. Told by its content, never by its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/messages.h"
#include "base/status.h"
#include "sys/file.h"

namespace sawbill::ingest {

/// The first bytes of a file (unpacked) begin a tar archive: its header's checksum is right.
bool LooksLikeTar(std::string_view sample);

struct Archive {
  std::unique_ptr<sys::FileSystem> fs;  // holds the files below "/"
  std::vector<std::string> notes;       // damage, ready to print
};
/// Names are kept relative to the archive, without leading "/" and ".."; links and devices are passed over. A damaged
/// tail gives what stands before it, with a note. kUnsupported when nothing is in it or it is beyond `max_bytes`
/// (a bomb, or more than memory should hold).
Result<Archive> OpenTar(std::string_view bytes, Lang lang, size_t max_bytes = size_t{2} << 30);

}  // namespace sawbill::ingest
