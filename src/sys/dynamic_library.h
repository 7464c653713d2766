// SPDX-License-Identifier: Apache-2.0
// Shared libraries that may or may not be there (NVML, libcurl): opened at run time, never linked.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace sawbill::sys {

class DynamicLibrary {
 public:
  virtual ~DynamicLibrary() = default;
  /// nullptr when the library does not export it.
  virtual void* Find(const char* symbol) = 0;
};

/// kUnavailable when it cannot be loaded: the message is the loader's own words. The library is closed with the object.
Result<std::unique_ptr<DynamicLibrary>> OpenLibrary(const std::string& name);

}  // namespace sawbill::sys
