// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_api.h"

#include <iterator>

namespace sawbill::gpu {

namespace {

struct Row {
  const char* symbol;
  void (*bind)(NvmlApi* api, void* function);
};
constexpr Row kRows[] = {
#define NVML_FUNCTION(name, parameters) \
  {#name, [](NvmlApi* api, void* function) { api->name = reinterpret_cast<nvml::fn::name*>(function); }},
#include "gpu/nvml_functions.inc"
#undef NVML_FUNCTION
};

}  // namespace

NvmlApi BindNvml(sys::DynamicLibrary* library) {
  NvmlApi api;
  for (const Row& row : kRows) row.bind(&api, library->Find(row.symbol));
  api.scripted = library->Find("sawbill_sim_load") != nullptr;
  return api;
}

CodeClass Classify(int code) {
  switch (code) {
    case nvml::kSuccess:
      return CodeClass::kOk;
    case nvml::kNotSupported:
    case nvml::kFunctionNotFound:
    case nvml::kArgumentVersionMismatch:
    case nvml::kDeprecated:
      return CodeClass::kAbsent;
    case nvml::kNoPermission:
      return CodeClass::kPermission;
    case nvml::kGpuIsLost:
    case nvml::kResetRequired:
    case nvml::kGpuNotFound:
      return CodeClass::kCardGone;
    case nvml::kUnknown:
      return CodeClass::kUnknown;
    case nvml::kUninitialized:
    case nvml::kDriverNotLoaded:
    case nvml::kLibRmVersionMismatch:
      return CodeClass::kLibraryGone;
    default:
      return CodeClass::kNoValue;
  }
}

const char* CodeText(int code) {
  // By number 0 to 30; newer drivers have more, and any integer may come.
  static constexpr const char* kTexts[] = {"Success",
                                           "Uninitialized",
                                           "Invalid Argument",
                                           "Not Supported",
                                           "Insufficient Permissions",
                                           "Already Initialized",
                                           "Not Found",
                                           "Insufficient Size",
                                           "Insufficient External Power",
                                           "Driver Not Loaded",
                                           "Timeout",
                                           "Interrupt Request Issue",
                                           "NVML Shared Library Not Found",
                                           "Function Not Found",
                                           "Corrupted infoROM",
                                           "GPU is lost",
                                           "GPU requires reset",
                                           "GPU access blocked by the operating system",
                                           "Driver/library version mismatch",
                                           "In use by another client",
                                           "Insufficient Memory",
                                           "No data",
                                           "vGPU ECC not supported",
                                           "Insufficient Resources",
                                           "Invalid Frequency",
                                           "Argument version mismatch",
                                           "Requested functionality has been deprecated",
                                           "System is not in ready state",
                                           "GPU not found",
                                           "Invalid state",
                                           "Reset type not supported"};
  return code >= 0 && code < static_cast<int>(std::size(kTexts)) ? kTexts[code] : "Unknown Error";
}

}  // namespace sawbill::gpu
