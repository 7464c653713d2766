// SPDX-License-Identifier: Apache-2.0
// GET of a page on loopback or the LAN, by libcurl loaded at the first call: proxies of the environment, chunked
// answers and time-outs are a library's job, and a machine that has NVML needs none of it.
#pragma once

#include <string>

#include "gpu/opener.h"
#include "gpu/source.h"

namespace sawbill::gpu {

struct HttpOptions {
  long timeout_ms = 5000;                // whole transfer; a scrape of 8 cards takes milliseconds
  size_t most_bytes = size_t{16} << 20;  // a page that is longer is refused
};
/// Fetches http:// and https:// URLs. kUnavailable with the URL, and what the server or the loader said. The connection
/// is kept open between calls. THREAD: one call at a time.
UrlFetcher MakeHttpGet(const HttpOptions& options = {}, const LibraryOpener& open = RealOpener());

}  // namespace sawbill::gpu
