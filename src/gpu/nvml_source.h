// SPDX-License-Identifier: Apache-2.0
// Third ring: NVML as a Source. This header is for tests, which bring a library and a file tree of their own.
#pragma once

#include <memory>

#include "gpu/opener.h"
#include "gpu/source.h"
#include "sys/proc_files.h"

namespace sawbill::gpu {

std::unique_ptr<Source> MakeNvmlSource(const NvmlOptions& options, LibraryOpener open,
                                       std::shared_ptr<sys::ProcFiles> files);

}  // namespace sawbill::gpu
