// SPDX-License-Identifier: Apache-2.0
// Who holds a card, by every way that drivers say it. Letters and numbers name the public faults.
#include "gpu/holder_reader.h"

#include <cstring>

#include "gpu/nvml_test_util.h"

namespace sawbill::gpu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr unsigned kNone = nvml::kNoInstance;

auto Holder(int64_t pid, double mb) {
  return AllOf(Field(&model::CardHolder::pid, pid), Field(&model::CardHolder::gpu_mem_mb, mb));
}
auto Share(int64_t pid, double percent) {
  return AllOf(Field(&model::CardHolder::pid, pid), Field(&model::CardHolder::sm_util, percent));
}

TEST_F(NvmlTest, HoldersOfAllListsAreNamedOnce) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.compute = {{100, 19135ULL << 20, kNone, kNone}, {200, nvml::kMemoryUnknown, kNone, kNone}};
  card.graphics = {{100, 19135ULL << 20, kNone, kNone}, {300, 5ULL << 20, kNone, kNone}};
  card.mps = {{400, 7ULL << 20, kNone, kNone}};
  Open();
  const CardReading r = Holders();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  ASSERT_THAT(r.holders, SizeIs(4));
  EXPECT_THAT(r.holders[0], Holder(100, 19135));
  EXPECT_EQ(r.holders[0].gpu, "0");
  EXPECT_EQ(r.holders[1].pid, 200);
  EXPECT_THAT(r.holders[1].gpu_mem_mb, IsNoReading()) << "all ones = not told";
  EXPECT_THAT(r.holders[2], Holder(300, 5));
  EXPECT_THAT(r.holders[3], Holder(400, 7));
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetComputeRunningProcesses_v3"), 0);
}

TEST_F(NvmlTest, NobodyOnTheCardIsAnAnswer) {
  nvml_.Add("GPU-a");
  Open();
  const CardReading r = Holders();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_THAT(r.holders, IsEmpty());
}

TEST_F(NvmlTest, ListThatGrowsBetweenTwoCallsIsReadWhole) {
  FakeCard& card = nvml_.Add("GPU-a");
  for (unsigned pid = 1; pid <= 300; ++pid) card.compute.push_back({pid, 1ULL << 20, kNone, kNone});
  Open();
  EXPECT_THAT(Holders().holders, SizeIs(300));
  nvml_.missing.insert("nvmlDeviceGetRunningProcessDetailList");
  Open();
  EXPECT_THAT(Holders().holders, SizeIs(300));
}

// Some 535 drivers wrote entries of 32 bytes under the name of a function whose entries have 24; 16 was reported.
TEST_F(NvmlTest, EntriesOfAnySizeAreReadRight) {
  FakeCard& card = nvml_.Add("GPU-a");
  nvml_.missing.insert("nvmlDeviceGetRunningProcessDetailList");
  for (const size_t stride : {24, 32, 16}) {
    for (const unsigned count : {1U, 2U, 5U, 32U}) {
      card.stride = stride;
      card.compute.clear();
      for (unsigned i = 0; i < count; ++i) card.compute.push_back({1000 + i, (7ULL + i) << 20, kNone, kNone});
      Open();
      const std::vector<model::CardHolder> holders = Holders().holders;
      ASSERT_THAT(holders, SizeIs(count)) << stride;
      EXPECT_THAT(holders.back(), Holder(999 + count, 6 + count)) << stride;
    }
  }
}

TEST(ProcessStrideTest, IsUnknownWhenNothingFits) {
  std::vector<unsigned char> buffer(256, kProcessFill);
  EXPECT_EQ(ProcessStride(buffer, 2), 0U) << "nothing was written";
  EXPECT_EQ(ProcessStride(buffer, 0), 0U);
  std::memset(buffer.data(), 0, 48);
  EXPECT_EQ(ProcessStride(buffer, 2), 0U) << "pid 0";
}

// A driver that clears the whole buffer before it writes: the entries themselves have to tell.
TEST(ProcessStrideTest, IsToldByTheEntriesWhereTheBufferWasCleared) {
  std::vector<unsigned char> buffer(256, 0);
  for (unsigned i = 0; i < 2; ++i) {
    const nvml::ProcessInfo entry = {1000 + i, 1 << 20, kNone, kNone};
    std::memcpy(buffer.data() + size_t{i} * 32, &entry, sizeof(entry));
  }
  EXPECT_EQ(ProcessStride(buffer, 2), 32U);
}

// A9: a ring of 100 entries, most of them of no time, one of 4000 %, and the newest not the first.
TEST_F(NvmlTest, SharesAreOfSoundEntriesSinceTheLastLook) {
  FakeCard& card = nvml_.Add("GPU-a");
  for (const unsigned pid : {1U, 2U, 3U}) card.compute.push_back({pid, 1ULL << 20, kNone, kNone});
  Open();
  EXPECT_THAT(Holders().holders[0].sm_util, IsNoReading()) << "there was no last look";
  card.ring = {{1, 0, 4000, 0, 0, 0}, {2, 100, 12, 0, 0, 0}, {3, 90, 7, 0, 0, 0}, {9, 95, 50, 0, 0, 0}};
  card.ring.resize(100);
  EXPECT_THAT(Holders().holders, ElementsAre(Share(1, 0), Share(2, 12), Share(3, 7))) << "9 holds nothing";
  card.ring[2] = {3, 101, 20, 0, 0, 0};
  EXPECT_THAT(Holders().holders, ElementsAre(Share(1, 0), Share(2, 0), Share(3, 20))) << "since 100";
}

TEST_F(NvmlTest, ShareIsTheMeanOfItsEntries) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.compute = {{2, 1ULL << 20, kNone, kNone}};
  card.ring = {{2, 50, 99, 0, 0, 0}};
  Open();
  Holders();
  card.ring = {{2, 50, 99, 0, 0, 0}, {2, 60, 30, 0, 0, 0}, {2, 70, 50, 0, 0, 0}};
  EXPECT_THAT(Holders().holders, ElementsAre(Share(2, 40)));
  card.ring.clear();  // "not found": nobody did anything
  EXPECT_THAT(Holders().holders, ElementsAre(Share(2, 0)));
}

TEST_F(NvmlTest, ShareThatIsNotSupportedIsMissingNotZero) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.compute = {{2, 1ULL << 20, kNone, kNone}};
  card.codes["nvmlDeviceGetProcessUtilization"] = nvml::kNotSupported;
  Open();
  Holders();
  EXPECT_THAT(Holders().holders.at(0).sm_util, IsNoReading());
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetProcessUtilization"), 1);
}

TEST_F(NvmlTest, CountBeyondTheRingIsNotBelieved) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.compute = {{2, 1ULL << 20, kNone, kNone}};
  card.ring = {{2, 50, 99, 0, 0, 0}};
  card.ring_count = 0xFFFFFFFF;
  Open();
  EXPECT_THAT(Holders().holders, SizeIs(1));
}

TEST_F(NvmlTest, LostCardHasNoHolders) {
  nvml_.Add("GPU-a");
  Open();
  nvml_.cards[0].codes["*"] = nvml::kGpuIsLost;
  EXPECT_EQ(Holders().outcome, Outcome::kLost);
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetComputeRunningProcesses_v3"), 0);
}

}  // namespace
}  // namespace sawbill::gpu
