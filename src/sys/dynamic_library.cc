// SPDX-License-Identifier: Apache-2.0
#include "sys/dynamic_library.h"

#include <dlfcn.h>

namespace sawbill::sys {
namespace {

class RealLibrary : public DynamicLibrary {
 public:
  explicit RealLibrary(void* handle) : handle_(handle) {}
  RealLibrary(const RealLibrary&) = delete;
  RealLibrary& operator=(const RealLibrary&) = delete;
  ~RealLibrary() override { ::dlclose(handle_); }
  void* Find(const char* symbol) override { return ::dlsym(handle_, symbol); }

 private:
  void* handle_;
};

}  // namespace

Result<std::unique_ptr<DynamicLibrary>> OpenLibrary(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = ::dlerror();
    return Status::Unavailable(said != nullptr ? said : name + " cannot be loaded");
  }
  return std::unique_ptr<DynamicLibrary>(std::make_unique<RealLibrary>(handle));
}

}  // namespace sawbill::sys
