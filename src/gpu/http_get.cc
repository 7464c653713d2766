// SPDX-License-Identifier: Apache-2.0
#include "gpu/http_get.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace sawbill::gpu {
namespace {

// From curl/curl.h, whose numbers are part of libcurl's ABI since 7.16 and never change. The library is not linked, so
// its header is not needed to build.
constexpr int kOptWriteData = 10001, kOptUrl = 10002, kOptProxy = 10004, kOptUserAgent = 10018, kOptEncoding = 10102;
constexpr int kOptNoSignal = 99, kOptTimeoutMs = 155, kOptConnectTimeoutMs = 156, kOptProtocols = 181;
constexpr int kOptWriteFunction = 20011;
constexpr int kInfoResponseCode = 0x200002;
constexpr long kGlobalDefault = 3, kProtocolHttp = 1, kProtocolHttps = 2;
constexpr int kErrorWrite = 23;

using WriteFunction = size_t (*)(char* data, size_t size, size_t count, void* target);

struct CurlApi {
  int (*global_init)(long flags) = nullptr;
  void* (*init)() = nullptr;
  int (*setopt)(void* handle, int option, ...) = nullptr;
  int (*perform)(void* handle) = nullptr;
  int (*getinfo)(void* handle, int info, ...) = nullptr;
  void (*cleanup)(void* handle) = nullptr;
  const char* (*strerror)(int code) = nullptr;
};

template <typename Function>
bool Bind(sys::DynamicLibrary* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(library->Find(symbol));
  return *function != nullptr;
}

struct Body {
  std::string text;
  size_t most_bytes = 0;
};

/// Fewer bytes taken than given: libcurl ends the transfer with error 23.
size_t Append(char* data, size_t size, size_t count, void* target) {
  auto* body = static_cast<Body*>(target);
  const size_t bytes = size * count;
  if (bytes > body->most_bytes - body->text.size()) return 0;
  body->text.append(data, bytes);
  return bytes;
}

class HttpGet {
 public:
  HttpGet(const HttpOptions& options, LibraryOpener open) : options_(options), open_(std::move(open)) {}
  HttpGet(const HttpGet&) = delete;
  HttpGet& operator=(const HttpGet&) = delete;
  ~HttpGet() {
    if (handle_ != nullptr) api_.cleanup(handle_);
  }

  Result<std::string> Get(const std::string& url) {
    if (handle_ == nullptr) SAWBILL_RETURN_IF_ERROR(Load());
    Body body;
    body.most_bytes = options_.most_bytes;
    Prepare(url, &body);
    const int code = api_.perform(handle_);
    if (code == kErrorWrite) {
      return Status::Unavailable(fmt::format("{}: the answer is longer than {} bytes", url, options_.most_bytes));
    }
    if (code != 0) return Status::Unavailable(fmt::format("{}: {}", url, Said(code)));
    long http = 0;
    api_.getinfo(handle_, kInfoResponseCode, &http);
    if (http < 200 || http > 299) return Status::Unavailable(fmt::format("{}: HTTP {}", url, http));
    return std::move(body.text);
  }

 private:
  Status Load() {
    if (library_ == nullptr) {
      Result<std::unique_ptr<sys::DynamicLibrary>> library = open_("libcurl.so.4");
      if (!library.ok()) {
        return Status::Unavailable(
            "libcurl.so.4, needed to fetch a URL, cannot be loaded (Debian, Ubuntu: package "
            "libcurl4): " +
            library.status().message());
      }
      library_ = std::move(library).value();
    }
    sys::DynamicLibrary* l = library_.get();
    const bool whole = Bind(l, "curl_global_init", &api_.global_init) && Bind(l, "curl_easy_init", &api_.init) &&
                       Bind(l, "curl_easy_setopt", &api_.setopt) && Bind(l, "curl_easy_perform", &api_.perform) &&
                       Bind(l, "curl_easy_getinfo", &api_.getinfo) && Bind(l, "curl_easy_cleanup", &api_.cleanup);
    if (!whole) return Status::Unavailable("libcurl.so.4 lacks the functions of libcurl's easy interface");
    Bind(l, "curl_easy_strerror", &api_.strerror);
    if (api_.global_init(kGlobalDefault) == 0) handle_ = api_.init();
    return handle_ != nullptr ? Status::Ok() : Status::Unavailable("libcurl.so.4 cannot be initialised");
  }

  void Prepare(const std::string& url, Body* body) {
    api_.setopt(handle_, kOptUrl, url.c_str());
    api_.setopt(handle_, kOptWriteFunction, static_cast<WriteFunction>(Append));
    api_.setopt(handle_, kOptWriteData, static_cast<void*>(body));
    // Without it a time-out while resolving a name raises SIGALRM in whatever thread runs.
    api_.setopt(handle_, kOptNoSignal, 1L);
    api_.setopt(handle_, kOptTimeoutMs, options_.timeout_ms);
    api_.setopt(handle_, kOptConnectTimeoutMs, options_.timeout_ms);
    // An http_proxy of the environment would be asked for 127.0.0.1, which is another machine's.
    api_.setopt(handle_, kOptProxy, "");
    api_.setopt(handle_, kOptEncoding, "");  // all that this libcurl knows; dcgm-exporter sends gzip
    api_.setopt(handle_, kOptProtocols, kProtocolHttp | kProtocolHttps);
    api_.setopt(handle_, kOptUserAgent, "sawbill/" SAWBILL_VERSION);
  }

  std::string Said(int code) const {
    const char* said = api_.strerror == nullptr ? nullptr : api_.strerror(code);
    return said != nullptr ? said : fmt::format("libcurl error {}", code);
  }

  HttpOptions options_;
  LibraryOpener open_;
  std::unique_ptr<sys::DynamicLibrary> library_;
  CurlApi api_;
  void* handle_ = nullptr;
};

}  // namespace

UrlFetcher MakeHttpGet(const HttpOptions& options, const LibraryOpener& open) {
  auto get = std::make_shared<HttpGet>(options, open);
  return [get](const std::string& url) { return get->Get(url); };
}

}  // namespace sawbill::gpu
