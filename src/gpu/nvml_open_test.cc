// SPDX-License-Identifier: Apache-2.0
// Opening, losing and finding again. Letters and numbers name the public faults that a test stands for.
#include <thread>

#include "gpu/nvml_test_util.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;
using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(NvmlTest, CardsAreListedWithWhatTheDriverTells) {
  nvml_.Add("GPU-a");
  nvml_.Add("GPU-b").name = "NVIDIA L4";
  Open();
  ASSERT_THAT(source_->cards(), SizeIs(2));
  const model::CardInfo& first = source_->cards()[0].info;
  EXPECT_EQ(first.gpu, "0");
  EXPECT_EQ(first.uuid, "GPU-a");
  EXPECT_EQ(first.driver, "535.309.01");
  EXPECT_EQ(first.memory_total_mb, 81559);
  EXPECT_EQ(source_->cards()[1].info.name, "NVIDIA L4");
  EXPECT_EQ(source_->info().library, "12.535.309.01");
  EXPECT_EQ(source_->info().cuda, "12.2");
}

TEST_F(NvmlTest, LibraryThatCannotBeLoadedIsNamedInTheLoadersWords) {
  nvml_.load_error = "libnvidia-ml.so.1: cannot open shared object file";
  const SourceStatus status = source_->Open();
  EXPECT_EQ(status.trouble, Trouble::kNoLibrary);
  EXPECT_THAT(status.detail, HasSubstr("cannot open shared object"));
}

// B3: another tool printed nothing and ended with 0.
TEST_F(NvmlTest, MismatchNamesBothVersions) {
  nvml_.Add("GPU-a");
  nvml_.codes["nvmlInit_v2"] = nvml::kLibRmVersionMismatch;
  files_->Put(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version: 12\n");
  SourceStatus status = source_->Open();
  EXPECT_EQ(status.trouble, Trouble::kMismatch);
  EXPECT_EQ(status.code, 18);
  EXPECT_EQ(status.detail, "kernel module 535.104.05, library 535.309.01");
  files_->Put("/sys/module/nvidia/version", "535.99\n");
  EXPECT_EQ(source_->Open().detail, "kernel module 535.99, library 535.309.01");
  EXPECT_EQ(nvml_.loaded, 0);
}

TEST_F(NvmlTest, MismatchInMidRunAsksForReopening) {
  nvml_.Add("GPU-a");
  Open();
  EXPECT_EQ(Quick().outcome, Outcome::kOk);
  nvml_.cards[0].codes["*"] = nvml::kLibRmVersionMismatch;
  const CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kReopen);
  EXPECT_EQ(r.code, 18);
}

// B4: the driver comes 20 s late, and everything is found then.
TEST_F(NvmlTest, DriverThatComesLateIsFoundByOpeningAgain) {
  nvml_.Add("GPU-a");
  nvml_.codes["nvmlInit_v2"] = nvml::kDriverNotLoaded;
  EXPECT_EQ(source_->Open().trouble, Trouble::kNoDriver);
  EXPECT_THAT(source_->cards(), IsEmpty());
  EXPECT_EQ(source_->ReadQuick(0, 1).outcome, Outcome::kReopen);
  nvml_.codes.clear();
  Open();
  EXPECT_EQ(Quick().outcome, Outcome::kOk);
}

TEST_F(NvmlTest, NoCardAndNoPermissionAreTroublesOfTheirOwn) {
  EXPECT_EQ(source_->Open().trouble, Trouble::kNoCards);
  nvml_.Add("GPU-a");
  nvml_.Add("GPU-b");
  nvml_.handle_codes = {{0, nvml::kNoPermission}, {1, nvml::kNoPermission}};
  EXPECT_EQ(source_->Open().trouble, Trouble::kNoPermission);
  EXPECT_EQ(nvml_.inits, nvml_.shutdowns);
}

// B1: one of eight cards falls off the bus.
TEST_F(NvmlTest, LostCardIsNotCalledAgainInTheSameReadingAndOthersGoOn) {
  for (int i = 0; i < 4; ++i) nvml_.Add("GPU-" + std::to_string(i));
  Open();
  EXPECT_EQ(Quick(3).outcome, Outcome::kOk);
  nvml_.cards[3].codes["*"] = nvml::kGpuIsLost;
  nvml_.calls.clear();
  const CardReading lost = Quick(3);
  EXPECT_EQ(lost.outcome, Outcome::kLost);
  EXPECT_EQ(lost.code, 15);
  EXPECT_THAT(Value(lost, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(nvml_.AllCalls(), 1);
  EXPECT_EQ(Quick(2).outcome, Outcome::kOk);
  // Found anew under another index: the uuid says which it is.
  std::swap(nvml_.cards[0].uuid, nvml_.cards[3].uuid);
  nvml_.cards[3].codes.clear();
  Open();
  EXPECT_EQ(source_->cards()[0].info.uuid, "GPU-3");
}

// B2: other tools listed no card at all.
TEST_F(NvmlTest, BadHandleDoesNotHideTheOthers) {
  for (int i = 0; i < 4; ++i) nvml_.Add("GPU-" + std::to_string(i));
  nvml_.handle_codes[0] = nvml::kGpuIsLost;
  Open();
  ASSERT_THAT(source_->cards(), SizeIs(4));
  EXPECT_EQ(source_->cards()[0].lost_code, 15);
  EXPECT_EQ(source_->cards()[0].info.gpu, "0");
  EXPECT_EQ(source_->cards()[1].info.uuid, "GPU-1");
  const CardReading r = Quick(0);
  EXPECT_EQ(r.outcome, Outcome::kLost);
  EXPECT_EQ(r.code, 15);
  EXPECT_EQ(Quick(1).outcome, Outcome::kOk);
}

// B5: after a systemd reload a container's cards all say "Unknown Error". That is not idle.
TEST_F(NvmlTest, UnknownErrorOnEveryCallIsLossAndOnOneCallIsNot) {
  nvml_.Add("GPU-a");
  Open();
  nvml_.cards[0].codes["nvmlDeviceGetTemperature"] = nvml::kUnknown;
  CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_THAT(Value(r, GpuMetric::kTempC), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  nvml_.cards[0].codes = {{"*", nvml::kUnknown}};
  r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kLost);
  EXPECT_EQ(r.code, 999);
  EXPECT_THAT(r.values, testing::Each(IsNoReading()));
  // Opening anew in that state says so of the source.
  nvml_.handle_codes[0] = nvml::kUnknown;
  EXPECT_EQ(source_->Open().trouble, Trouble::kLostSight);
  nvml_.codes["nvmlInit_v2"] = nvml::kUnknown;
  EXPECT_EQ(source_->Open().trouble, Trouble::kLostSight);
  nvml_.codes.clear();
  nvml_.handle_codes.clear();
  nvml_.cards[0].codes.clear();
  Open();
  EXPECT_EQ(Quick().outcome, Outcome::kOk);
}

TEST_F(NvmlTest, NoPermissionOnEveryCallIsToldWithItsCodeAndTriedAgainAfterAMinute) {
  nvml_.Add("GPU-a");
  Open();
  nvml_.cards[0].codes["*"] = nvml::kNoPermission;
  CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kEmpty);
  EXPECT_EQ(r.code, 4);
  nvml_.cards[0].codes.clear();
  EXPECT_EQ(Quick().outcome, Outcome::kEmpty);
  now_us_ += kSecondUs * 60;
  EXPECT_EQ(Quick().outcome, Outcome::kOk);
}

// G5: a laptop's card in D3cold.
TEST_F(NvmlTest, SleepingCardIsNotTouched) {
  nvml_.Add("GPU-awake").bus = "00000000:3B:00.0";
  nvml_.Add("GPU-asleep").bus = "00000000:5E:00.0";
  const auto put = [this](const std::string& address, const std::string& state) {
    const std::string dir = "/sys/bus/pci/devices/" + address;
    files_->Put(dir + "/vendor", "0x10de\n");
    files_->Put(dir + "/class", "0x030200\n");
    files_->Put(dir + "/power_state", state + "\n");
    files_->Put(dir + "/power/control", "auto\n");
  };
  put("0000:3b:00.0", "D0");
  put("0000:5e:00.0", "D3cold");
  Open();
  ASSERT_THAT(source_->cards(), SizeIs(2));
  EXPECT_EQ(source_->cards()[0].info.uuid, "GPU-awake");
  EXPECT_FALSE(source_->cards()[0].suspended);
  EXPECT_TRUE(source_->cards()[1].suspended);
  EXPECT_EQ(source_->cards()[1].info.gpu, "1");
  EXPECT_EQ(nvml_.Calls("nvmlInit_v2"), 1) << "by nvmlInitWithFlags(no attach)";
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetHandleByIndex_v2"), 0);
  EXPECT_EQ(Quick(0).outcome, Outcome::kOk);
  nvml_.calls.clear();
  EXPECT_EQ(Quick(1).outcome, Outcome::kSuspended);
  put("0000:3b:00.0", "D3cold");
  EXPECT_EQ(Quick(0).outcome, Outcome::kSuspended);
  EXPECT_EQ(nvml_.AllCalls(), 0);
  put("0000:5e:00.0", "D0");
  EXPECT_EQ(Quick(1).outcome, Outcome::kReopen) << "it woke: there is a handle to be had";
}

TEST_F(NvmlTest, InstancesOfACardHaveSlotsOfTheirOwn) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.mig_mode = true;
  card.codes["nvmlDeviceGetUtilizationRates"] = nvml::kNotSupported;
  card.gpm = true;
  for (const unsigned gi : {1U, 0U, 5U}) {
    card.instances.push_back(gi == 0 ? nullptr : std::make_unique<FakeCard>());  // an empty place in the middle
    if (gi == 0) continue;
    FakeCard& instance = *card.instances.back();
    instance.uuid = "MIG-" + std::to_string(gi);
    instance.gi = gi;
    instance.slices = gi == 1 ? 3 : 2;
    instance.memory = {0, 20096ULL << 20, 0, 96ULL << 20, 20000ULL << 20};
    instance.gpm_values = {{nvml::kGpmGraphicsUtil, gi == 1 ? 88.0 : 12.5}};
  }
  Open();
  ASSERT_THAT(source_->cards(), SizeIs(3));
  EXPECT_TRUE(source_->cards()[0].mig_parent);
  const Source::CardSlot& first = source_->cards()[1];
  EXPECT_EQ(first.info.gpu, "0.1.0");
  EXPECT_EQ(first.info.uuid, "MIG-1");
  EXPECT_EQ(first.info.parent_uuid, "GPU-a");
  EXPECT_THAT(first.info.share.value_or(0), DoubleNear(3.0 / 7, 1e-9));
  EXPECT_EQ(source_->cards()[2].info.gpu, "0.5.0");
  // A5: the card's utilisation is missing, not 0, and each instance tells how busy its engine is.
  Quick(1);
  const CardReading r = Quick(1);
  EXPECT_THAT(Value(r, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kGrActive), 0.88);
  EXPECT_EQ(Value(r, GpuMetric::kMemUsedMb), 20000);
  EXPECT_THAT(Value(r, GpuMetric::kPowerW), IsNoReading()) << "the card's, not the instance's";
  EXPECT_EQ(Value(r, GpuMetric::kTempC), 61);
  EXPECT_EQ(Value(Quick(0), GpuMetric::kPowerW), 412.35);
}

TEST_F(NvmlTest, UtilisationUnderMigIsNotAskedForBecauseSomeDriversSayZero) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.mig_mode = true;
  card.util = {0, 0};
  Open();
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetUtilizationRates"), 0);
}

TEST_F(NvmlTest, EventsNameTheCardAndTheXid) {
  nvml_.Add("GPU-a");
  nvml_.Add("GPU-b");
  Open();
  EXPECT_THAT(source_->TakeEvents(), IsEmpty());
  const auto device = reinterpret_cast<nvml::Device>(&nvml_.cards[1]);
  nvml_.events.push_back({device, nvml::kEventXid, 79, nvml::kNoInstance, nvml::kNoInstance});
  nvml_.events.push_back({device, nvml::kEventMigConfig, 0, nvml::kNoInstance, nvml::kNoInstance});
  EXPECT_THAT(source_->TakeEvents(), ElementsAre(AllOf(Field(&CardEvent::kind, "xid"), Field(&CardEvent::gpu, "1"),
                                                       Field(&CardEvent::detail, "xid=79")),
                                                 Field(&CardEvent::kind, "mig_changed")));
  EXPECT_THAT(source_->TakeEvents(), IsEmpty());
}

TEST_F(NvmlTest, UncorrectedErrorsAreAnEventOnceTheyGrow) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.fields[nvml::kFieldEccDbeVolatile] = {nvml::kValueU64, 5, 0};
  Open();
  Quick();
  EXPECT_THAT(source_->TakeEvents(), IsEmpty()) << "what was there before is of a time that is not ours";
  card.fields[nvml::kFieldEccDbeVolatile].value = 7;
  Quick();
  EXPECT_THAT(source_->TakeEvents(), ElementsAre(Field(&CardEvent::detail, "uncorrected=2")));
  card.fields[nvml::kFieldEccDbeVolatile].value = 0;
  Quick();
  EXPECT_THAT(source_->TakeEvents(), IsEmpty());
}

// G3: descriptors of another monitor ran out after a night of opening anew.
TEST_F(NvmlTest, TenThousandOpeningsLeaveNothingBehind) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.gpm = true;
  for (int i = 0; i < 10'000; ++i) {
    Open();
    Quick();
    if (i % 3 == 0) source_->Close();
  }
  source_->Close();
  EXPECT_EQ(nvml_.loaded, 0);
  EXPECT_EQ(nvml_.inits, 10'000);
  EXPECT_EQ(nvml_.shutdowns, 10'000);
  EXPECT_EQ(nvml_.gpm_samples, 0);
  EXPECT_EQ(nvml_.event_sets, 0);
}

TEST_F(NvmlTest, CallThatHangsKeepsTheLibraryUntilItReturns) {
  nvml_.Add("GPU-a");
  nvml_.Add("GPU-b");
  Open();
  {
    const std::lock_guard<std::mutex> lock(nvml_.mutex);
    nvml_.hang_in = "nvmlDeviceGetTemperature";
  }
  CardReading late;
  std::thread stuck([&] { late = source_->ReadQuick(0, kSecondUs); });
  {
    std::unique_lock<std::mutex> lock(nvml_.mutex);
    nvml_.changed.wait(lock, [&] { return nvml_.hanging; });
  }
  source_->Close();
  EXPECT_EQ(nvml_.shutdowns, 0);
  EXPECT_EQ(nvml_.loaded, 1);
  Open();  // the others go on
  EXPECT_EQ(nvml_.loaded, 2);
  source_.reset();  // even the source may be gone
  EXPECT_EQ(nvml_.shutdowns, 1);
  {
    const std::lock_guard<std::mutex> lock(nvml_.mutex);
    nvml_.hang_in.clear();
  }
  nvml_.changed.notify_all();
  stuck.join();
  EXPECT_EQ(late.outcome, Outcome::kOk);
  EXPECT_EQ(nvml_.shutdowns, 2);
  EXPECT_EQ(nvml_.loaded, 0);
}

}  // namespace
}  // namespace sawbill::gpu
