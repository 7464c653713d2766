// SPDX-License-Identifier: Apache-2.0
// GET against a libcurl made by hand: no test needs the network.
#include "gpu/http_get.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdarg>
#include <map>

namespace sawbill::gpu {
namespace {

using testing::HasSubstr;

struct FakeCurl {
  std::string body = "up 1\n", url;
  int error = 0, handles = 0, loads = 0;
  long http = 200;
  std::map<int, long> numbers;
  std::map<int, std::string> texts;
  size_t (*write)(char*, size_t, size_t, void*) = nullptr;
  void* target = nullptr;
};
FakeCurl* curl = nullptr;

int GlobalInit(long) { return 0; }
void* EasyInit() {
  ++curl->handles;
  return curl;
}
void Cleanup(void*) { --curl->handles; }
const char* StrError(int) { return "Couldn't connect to server"; }
int SetOpt(void*, int option, ...) {
  va_list args;
  va_start(args, option);
  if (option == 20011) {
    curl->write = va_arg(args, size_t (*)(char*, size_t, size_t, void*));
  } else if (option == 10001) {
    curl->target = va_arg(args, void*);
  } else if (option > 10000) {
    curl->texts[option] = va_arg(args, const char*);
  } else {
    curl->numbers[option] = va_arg(args, long);
  }
  va_end(args);
  return 0;
}
int Perform(void*) {
  if (curl->error != 0) return curl->error;
  for (size_t i = 0; i < curl->body.size(); i += 1000) {  // in pieces, as from a socket
    const size_t n = std::min<size_t>(1000, curl->body.size() - i);
    if (curl->write(curl->body.data() + i, 1, n, curl->target) != n) return 23;
  }
  return 0;
}
int GetInfo(void*, int info, ...) {
  va_list args;
  va_start(args, info);
  if (info == 0x200002) *va_arg(args, long*) = curl->http;
  va_end(args);
  return 0;
}

class CurlLibrary : public sys::DynamicLibrary {
 public:
  explicit CurlLibrary(bool whole) : whole_(whole) {}
  void* Find(const char* symbol) override {
    static const std::map<std::string, void*> kSymbols = {{"curl_global_init", reinterpret_cast<void*>(GlobalInit)},
                                                          {"curl_easy_init", reinterpret_cast<void*>(EasyInit)},
                                                          {"curl_easy_setopt", reinterpret_cast<void*>(SetOpt)},
                                                          {"curl_easy_perform", reinterpret_cast<void*>(Perform)},
                                                          {"curl_easy_getinfo", reinterpret_cast<void*>(GetInfo)},
                                                          {"curl_easy_cleanup", reinterpret_cast<void*>(Cleanup)},
                                                          {"curl_easy_strerror", reinterpret_cast<void*>(StrError)}};
    const auto it = kSymbols.find(symbol);
    return it == kSymbols.end() || (!whole_ && it->first == "curl_easy_perform") ? nullptr : it->second;
  }

 private:
  bool whole_;
};

class HttpGetTest : public testing::Test {
 protected:
  HttpGetTest() { curl = &curl_; }
  UrlFetcher Get(const HttpOptions& options = {}, bool whole = true) {
    return MakeHttpGet(options, [this, whole](const std::string& name) -> Result<std::unique_ptr<sys::DynamicLibrary>> {
      EXPECT_EQ(name, "libcurl.so.4");
      ++curl_.loads;
      if (!there_) return Status::Unavailable("libcurl.so.4: cannot open shared object file");
      return std::unique_ptr<sys::DynamicLibrary>(std::make_unique<CurlLibrary>(whole));
    });
  }
  FakeCurl curl_;
  bool there_ = true;
};

constexpr char kUrl[] = "http://127.0.0.1:9400/metrics";

TEST_F(HttpGetTest, BodyIsGivenWhole) {
  curl_.body = std::string(12'345, 'x');
  {
    const UrlFetcher get = Get();
    EXPECT_EQ(curl_.loads, 0) << "only at first use";
    const Result<std::string> body = get(kUrl);
    ASSERT_TRUE(body.ok()) << body.status().message();
    EXPECT_EQ(*body, curl_.body);
    EXPECT_TRUE(get(kUrl).ok());
    EXPECT_EQ(curl_.loads, 1);
    EXPECT_EQ(curl_.texts[10002], kUrl);
    EXPECT_EQ(curl_.texts[10004], "") << "no proxy for a page on this machine";
    EXPECT_EQ(curl_.numbers[99], 1) << "no signals in a program with threads";
    EXPECT_EQ(curl_.numbers[155], 5000);
  }
  EXPECT_EQ(curl_.handles, 0);
}

TEST_F(HttpGetTest, StatusOfTheServerAndWordsOfTheLibraryAreTold) {
  curl_.http = 503;
  EXPECT_EQ(Get()(kUrl).status().message(), std::string(kUrl) + ": HTTP 503");
  curl_.error = 7;
  EXPECT_EQ(Get()(kUrl).status().message(), std::string(kUrl) + ": Couldn't connect to server");
  EXPECT_EQ(Get()(kUrl).status().kind(), StatusKind::kUnavailable);
}

TEST_F(HttpGetTest, EndlessAnswerIsRefused) {
  curl_.body = std::string(5000, 'x');
  EXPECT_THAT(Get({1000, 4096})(kUrl).status().message(), HasSubstr("longer than 4096 bytes"));
}

TEST_F(HttpGetTest, LibraryThatIsNotThereIsNamedWithItsPackageAndTriedAgain) {
  there_ = false;
  const UrlFetcher get = Get();
  EXPECT_THAT(get(kUrl).status().message(), testing::AllOf(HasSubstr("libcurl4"), HasSubstr("cannot open")));
  there_ = true;
  EXPECT_TRUE(get(kUrl).ok());
  EXPECT_THAT(Get({}, false)(kUrl).status().message(), HasSubstr("lacks"));
}

}  // namespace
}  // namespace sawbill::gpu
