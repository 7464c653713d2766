// SPDX-License-Identifier: Apache-2.0
#include "app/make_source.h"

#include <gtest/gtest.h>

#include "collect/fake_source.h"

namespace sawbill::app {
namespace {

using collect::FakeSource;
using gpu::Trouble;

struct Two {
  FakeSource* nvml = nullptr;
  FakeSource* dcgm = nullptr;
  std::shared_ptr<gpu::Source> both;
  Two() {
    std::vector<std::unique_ptr<gpu::Source>> sources;
    sources.push_back(std::make_unique<FakeSource>(1));
    nvml = static_cast<FakeSource*>(sources.back().get());
    sources.push_back(std::make_unique<FakeSource>(2));
    dcgm = static_cast<FakeSource*>(sources.back().get());
    both = FirstThatOpens(std::move(sources));
  }
};

TEST(FirstThatOpens, TheFirstThatCanBeReadIsTaken) {
  Two t;
  EXPECT_TRUE(t.both->Open().ok());
  EXPECT_EQ(t.both->cards().size(), 1U);
  EXPECT_EQ(t.dcgm->opens, 0);
  t.nvml->trouble = {Trouble::kNoLibrary, 0, ""};
  EXPECT_TRUE(t.both->Open().ok());
  EXPECT_EQ(t.both->cards().size(), 2U);
}

TEST(FirstThatOpens, SaysWhatIsWrongWithTheOneThatIsMeant) {
  Two t;
  t.nvml->trouble = {Trouble::kNoLibrary, 0, ""};
  t.dcgm->trouble = {Trouble::kUnreachable, 0, "http://127.0.0.1:9400/metrics: refused"};
  EXPECT_EQ(t.both->Open().trouble, Trouble::kUnreachable) << "no library: the exporter was meant";
  t.nvml->trouble = {Trouble::kMismatch, 18, ""};
  EXPECT_EQ(t.both->Open().trouble, Trouble::kMismatch) << "there is a driver, and it is broken";
  t.dcgm->trouble = {};
  ASSERT_TRUE(t.both->Open().ok());
  t.dcgm->trouble = {Trouble::kUnreachable, 0, ""};
  EXPECT_EQ(t.both->Open().trouble, Trouble::kUnreachable) << "it served until now";
}

}  // namespace
}  // namespace sawbill::app
