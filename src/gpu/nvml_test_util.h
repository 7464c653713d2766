// SPDX-License-Identifier: Apache-2.0
// A source on a made-up NVML, and readings of it by short names. For tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "gpu/fake_nvml.h"
#include "gpu/nvml_source.h"

namespace sawbill::gpu {

inline constexpr int64_t kSecondUs = 1'000'000;

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() : source_(MakeNvmlSource({}, nvml_.Opener(), files_)) {}
  /// Opens, and fails the test when that does not go well.
  void Open() {
    const SourceStatus status = source_->Open();
    ASSERT_TRUE(status.ok()) << Name(status.trouble) << " " << status.code << " " << status.detail;
  }
  CardReading Quick(size_t card = 0) { return source_->ReadQuick(card, now_us_ += kSecondUs); }
  CardReading Holders(size_t card = 0) { return source_->ReadHolders(card, now_us_); }

  FakeNvml nvml_;
  std::shared_ptr<sys::MemProcFiles> files_ = std::make_shared<sys::MemProcFiles>();
  std::unique_ptr<Source> source_;
  int64_t now_us_ = kSecondUs;
};

inline double Value(const CardReading& r, model::GpuMetric m) { return r.values[static_cast<size_t>(m)]; }

MATCHER(IsNoReading, "") { return IsMissing(arg); }

}  // namespace sawbill::gpu
