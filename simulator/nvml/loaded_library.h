// SPDX-License-Identifier: Apache-2.0
// For tests: the library as a client has it, through dlopen, with every function of the list.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "gpu/nvml_abi.h"

namespace sawbill::nvmlsim {

struct LoadedLibrary {
#define NVML_FUNCTION(name, parameters) nvml::fn::name* name = Find<nvml::fn::name>(#name);
#include "gpu/nvml_functions.inc"
#undef NVML_FUNCTION
  nvml::fn::nvmlErrorString* nvmlErrorString = Find<nvml::fn::nvmlErrorString>("nvmlErrorString");
  int (*load)(const char*) = Find<int(const char*)>("sawbill_sim_load");
  const char* (*error)() = Find<const char*()>("sawbill_sim_error");
  void (*set_time)(double) = Find<void(double)>("sawbill_sim_set_time");
  long (*calls)(const char*, int) = Find<long(const char*, int)>("sawbill_sim_calls");
  void (*reset)() = Find<void()>("sawbill_sim_reset");

  static const LoadedLibrary& Get() {
    static const LoadedLibrary library;
    return library;
  }
  static void* Handle() {
    static void* handle = ::dlopen(SAWBILL_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return handle;
  }
  template <typename Function>
  static Function* Find(const char* name) {
    return Handle() != nullptr ? reinterpret_cast<Function*>(::dlsym(Handle(), name)) : nullptr;
  }
};

/// Each test loads its own script and stands at time 0, initialised.
class ScriptedTest : public testing::Test {
 protected:
  const LoadedLibrary& lib = LoadedLibrary::Get();

  void Load(const std::string& script) {
    ASSERT_EQ(lib.load(script.c_str()), 0) << lib.error();
    lib.set_time(0);
  }
  void Start(const std::string& script) {
    Load(script);
    ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  }
  void TearDown() override { lib.reset(); }

  nvml::Device Card(unsigned index) {
    nvml::Device device = nullptr;
    EXPECT_EQ(lib.nvmlDeviceGetHandleByIndex_v2(index, &device), nvml::kSuccess) << "card " << index;
    return device;
  }
  std::string Uuid(nvml::Device device) {
    char text[96] = "";
    EXPECT_EQ(lib.nvmlDeviceGetUUID(device, text, sizeof(text)), nvml::kSuccess);
    return text;
  }
  /// A reading of one u32, or the code below 0.
  template <typename Function, typename... Arguments>
  long Read(Function* function, nvml::Device device, Arguments... arguments) {
    unsigned value = 0;
    const nvml::Return code = function(device, arguments..., &value);
    return code == nvml::kSuccess ? static_cast<long>(value) : -static_cast<long>(code);
  }
  nvml::FieldValue FieldOf(nvml::Device device, unsigned id, unsigned scope = 0) {
    nvml::FieldValue value{};
    value.fieldId = id;
    value.scopeId = scope;
    EXPECT_EQ(lib.nvmlDeviceGetFieldValues(device, 1, &value), nvml::kSuccess);
    return value;
  }
  std::vector<nvml::ProcessInfo> Processes(nvml::Device device) {
    unsigned count = 0;
    const nvml::Return first = lib.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr);
    std::vector<nvml::ProcessInfo> out(count);
    if (first == nvml::kSuccess) return {};
    EXPECT_EQ(first, nvml::kInsufficientSize);
    EXPECT_EQ(lib.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, out.data()), nvml::kSuccess);
    return out;
  }
};

}  // namespace sawbill::nvmlsim
