// SPDX-License-Identifier: Apache-2.0
// First ring: the library and its functions, each of which may be missing. Drivers of ten years share one SONAME, and a
// function that a driver does not have is only noticed when it is called; so every one is looked up by name, and a null
// pointer answers like NVML's own "function not found".
#pragma once

#include "gpu/nvml_abi.h"
#include "sys/dynamic_library.h"

namespace sawbill::gpu {

struct NvmlApi {
#define NVML_FUNCTION(name, parameters) nvml::fn::name* name = nullptr;
#include "gpu/nvml_functions.inc"
#undef NVML_FUNCTION
  bool scripted = false;  // the library of simulator/nvml: what it says was measured by nobody
};
NvmlApi BindNvml(sys::DynamicLibrary* library);

/// What a return code means to a collector.
enum class CodeClass {
  kOk,
  kAbsent,       // 3, 13, 25, 26: this card, mode or driver does not have it; asking again and again fills kernel logs
  kNoValue,      // nothing this time (6, 10, 21, 27, and all that is not known)
  kPermission,   // 4
  kCardGone,     // 15, 16, 28
  kUnknown,      // 999: a card that fell off the bus, or a container that lost its devices, when every call says so
  kLibraryGone,  // 1, 9, 18: everything has to be opened anew
};
CodeClass Classify(int code);
/// NVML's name for people: "GPU is lost". A table of our own, because the library may be what is missing.
const char* CodeText(int code);

/// Calls `function`, or answers 13 when the library does not have it.
template <typename Function, typename... Args>
int Call(Function* function, Args... args) {
  return function == nullptr ? static_cast<int>(nvml::kFunctionNotFound) : static_cast<int>(function(args...));
}
/// Calls the first, and the second when the driver does not know the first (null, or 13 from a forwarding stub).
template <typename First, typename Second, typename... Args>
int CallEither(First* first, Second* second, Args... args) {
  const int code = Call(first, args...);
  return code == nvml::kFunctionNotFound ? Call(second, args...) : code;
}

}  // namespace sawbill::gpu
