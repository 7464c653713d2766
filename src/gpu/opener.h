// SPDX-License-Identifier: Apache-2.0
// How this room gets at shared libraries. Tests hand in their own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "sys/dynamic_library.h"

namespace sawbill::gpu {

using LibraryOpener = std::function<Result<std::unique_ptr<sys::DynamicLibrary>>(const std::string& name)>;
inline LibraryOpener RealOpener() {
  return [](const std::string& name) { return sys::OpenLibrary(name); };
}

}  // namespace sawbill::gpu
