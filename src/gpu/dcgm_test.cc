// SPDX-License-Identifier: Apache-2.0
// dcgm-exporter's pages, of old and new names. Lines are written for these tests, in the shape of real ones. Letters
// and numbers name the public faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/dcgm_page.h"
#include "gpu/nvml_test_util.h"
#include "gpu/source.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Line(const std::string& name, const std::string& value, int gpu = 0, const std::string& more = "") {
  const std::string n = std::to_string(gpu);
  return name + "{gpu=\"" + n + "\",UUID=\"GPU-" + n + "\",pci_bus_id=\"00000000:1B:00.0\",device=\"nvidia" + n +
         "\",modelName=\"NVIDIA H100 80GB HBM3\"" + more +
         ",Hostname=\"node1\",DCGM_FI_DRIVER_VERSION=\"580.95.05\",container=\"\",namespace=\"\",pod=\"\"} " + value +
         "\n";
}
constexpr char kInstance2[] = ",GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"2\"";

double Of(const std::string& page, GpuMetric m) {
  const DcgmPage parsed = ParseDcgmPage(page);
  return parsed.cards.empty() ? kMissing : parsed.cards[0].values[static_cast<size_t>(m)];
}

class DcgmTest : public testing::Test {
 protected:
  DcgmTest()
      : source_(MakeDcgmSource(
            [this](const std::string& url) -> Result<std::string> {
              ++fetches_;
              return error_.empty() ? Result<std::string>(page_) : Status::Unavailable(url + ": " + error_);
            },
            "http://127.0.0.1:9400/metrics")) {}
  CardReading Quick(size_t card = 0) { return source_->ReadQuick(card, now_us_ += kSecondUs); }

  std::string page_, error_;
  int fetches_ = 0;
  int64_t now_us_ = 0;
  std::unique_ptr<Source> source_;
};

TEST(DcgmPageTest, UnitsBecomeTheCatalogues) {
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_GPU_UTIL", "97"), GpuMetric::kSmUtil), 97);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "187000"), GpuMetric::kEnergyJ), 187);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_FB_USED", "39321"), GpuMetric::kMemUsedMb), 39321);
  EXPECT_EQ(Of(Line("DCGM_FI_PROF_PCIE_RX_BYTES", "2500000000"), GpuMetric::kPcieRxMbS), 2500);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "4"), GpuMetric::kThrottle),
            Mask(model::ThrottleBit::kSwPowerCap));
  EXPECT_EQ(Of(Line("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "0.412345"), GpuMetric::kTensorActive), 0.412345);
}

// DCGM 4.6 renamed its fields. "GPU_UTIL_RATIO" is a percentage all the same (A6).
TEST(DcgmPageTest, NewNamesGiveTheSame) {
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_GPU_UTIL_RATIO", "97"), GpuMetric::kSmUtil), 97);
  EXPECT_EQ(Of(Line("DCGM_FI_PROF_SM_UTIL_RATIO", "0.91"), GpuMetric::kSmActive), 0.91);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_BOARD_POWER_WATTS", "412.350000"), GpuMetric::kPowerW), 412.35);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", "9") + Line("DCGM_FI_DEV_BOARD_POWER_WATTS", "412.35"),
               GpuMetric::kPowerW),
            412.35);
  EXPECT_EQ(Of(Line("DCGM_FI_DEV_POWER_USAGE_INSTANT", "9"), GpuMetric::kPowerW), 9);
}

// A7: a blank became 1.4e16 % elsewhere, and one bad field cost the page.
TEST(DcgmPageTest, BlanksAndNonsenseAreMissingAndCostNoOther) {
  std::string text;
  for (int gpu = 0; gpu < 8; ++gpu) {
    const bool blank = gpu == 3;
    text += Line("DCGM_FI_DEV_GPU_UTIL", blank ? "2147483632" : "90", gpu);
    text += Line("DCGM_FI_PROF_PIPE_FP64_ACTIVE", "140737488355328.0", gpu);
    text += Line("DCGM_FI_PROF_SM_ACTIVE", blank ? "140737488355328.0" : "0.8", gpu);
    text += Line("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", blank ? "9223372036854775794" : "1000", gpu);
    text += Line("DCGM_FI_DEV_GPU_TEMP", blank ? "N/A" : "61", gpu);
    text += Line("DCGM_FI_DEV_SM_CLOCK", "1980", gpu);
  }
  text += "this is not a metric\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\n";
  const DcgmPage page = ParseDcgmPage(text);
  ASSERT_THAT(page.cards, SizeIs(8));
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (const GpuMetric m : {GpuMetric::kSmUtil, GpuMetric::kSmActive, GpuMetric::kEnergyJ, GpuMetric::kTempC}) {
      EXPECT_EQ(IsMissing(page.cards[static_cast<size_t>(gpu)].values[static_cast<size_t>(m)]), gpu == 3) << gpu;
    }
    EXPECT_EQ(page.cards[static_cast<size_t>(gpu)].values[static_cast<size_t>(GpuMetric::kSmClockMhz)], 1980);
  }
}

TEST(DcgmPageTest, LabelsOfAllReleasesNameTheCard) {
  const DcgmPage page = ParseDcgmPage(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",uuid=\"GPU-b\",modelName=\"A \"quoted\" name, and\\a slash\",hostname=\"n\"} 5\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"1\", UUID=\"GPU-b\", hostname=\"n\",} 61 1700000000000\n"
      "DCGM_FI_DEV_NVSWITCH_TEMP{nvswitch=\"0\"} 40\n");
  ASSERT_THAT(page.cards, SizeIs(1));
  EXPECT_EQ(page.cards[0].uuid, "GPU-b");
  EXPECT_EQ(page.cards[0].name, "A \"quoted\" name, and\\a slash");
  EXPECT_EQ(page.cards[0].values[static_cast<size_t>(GpuMetric::kTempC)], 61);
}

TEST_F(DcgmTest, CardsAreThoseOfThePage) {
  page_ = "# HELP DCGM_FI_DEV_GPU_UTIL x\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n";
  for (const int gpu : {10, 2}) {
    page_ += Line("DCGM_FI_DEV_GPU_UTIL", "50", gpu) + Line("DCGM_FI_DEV_FB_USED", "1000", gpu) +
             Line("DCGM_FI_DEV_FB_FREE", "80000", gpu) + Line("DCGM_FI_DEV_FB_RESERVED", "559", gpu);
  }
  ASSERT_TRUE(source_->Open().ok());
  ASSERT_THAT(source_->cards(), SizeIs(2));
  const Source::CardSlot& first = source_->cards()[0];
  EXPECT_EQ(first.info.gpu, "2");
  EXPECT_EQ(first.info.uuid, "GPU-2");
  EXPECT_EQ(first.info.memory_total_mb, 81559);
  EXPECT_FALSE(first.unified_memory);
  EXPECT_EQ(source_->cards()[1].info.gpu, "10");
  EXPECT_EQ(source_->info().driver, "580.95.05");
  const CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(r.supported, 2);
  EXPECT_EQ(r.asked, 12);
}

TEST_F(DcgmTest, PageThatIsFetchedOftenerThanItIsCollectedGivesNoNewSamples) {
  page_ = Line("DCGM_FI_DEV_GPU_UTIL", "50", 0) + Line("DCGM_FI_DEV_GPU_UTIL", "60", 1);
  ASSERT_TRUE(source_->Open().ok());
  EXPECT_EQ(Quick(0).outcome, Outcome::kOk);
  EXPECT_EQ(Quick(1).outcome, Outcome::kOk);
  EXPECT_EQ(fetches_, 1) << "one page for all cards";
  for (int second = 0; second < 29; ++second) {
    const CardReading r = Quick(0);
    EXPECT_EQ(r.outcome, Outcome::kNotNew);
    EXPECT_THAT(r.values, Each(IsNoReading()));
    EXPECT_EQ(Quick(1).outcome, Outcome::kNotNew);
  }
  EXPECT_EQ(fetches_, 30);
  page_ = Line("DCGM_FI_DEV_GPU_UTIL", "51", 0) + Line("DCGM_FI_DEV_GPU_UTIL", "60", 1);
  EXPECT_EQ(Value(Quick(0), GpuMetric::kSmUtil), 51);
  EXPECT_EQ(Value(Quick(1), GpuMetric::kSmUtil), 60) << "collected anew, though it is the same";
}

// A5: under MIG the card has no utilisation of its own, and a 0 is no idleness.
TEST_F(DcgmTest, InstancesAreCardsAndTheirParentHasNoUtilisation) {
  page_ = Line("DCGM_FI_DEV_GPU_UTIL", "0") + Line("DCGM_FI_DEV_GPU_UTIL", "0", 0, kInstance2) +
          Line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.88", 0, kInstance2) + Line("DCGM_FI_DEV_POWER_USAGE", "300") +
          Line("DCGM_FI_DEV_POWER_USAGE", "300", 0, kInstance2);
  ASSERT_TRUE(source_->Open().ok());
  ASSERT_THAT(source_->cards(), SizeIs(2));
  EXPECT_TRUE(source_->cards()[0].mig_parent);
  const model::CardInfo& instance = source_->cards()[1].info;
  EXPECT_EQ(instance.gpu, "0.2.0");
  EXPECT_EQ(instance.parent_uuid, "GPU-0");
  EXPECT_NEAR(instance.share.value_or(0), 3.0 / 7, 1e-9);
  EXPECT_EQ(instance.name, "NVIDIA H100 80GB HBM3 MIG 3g.40gb");
  const CardReading parent = Quick(0), r = Quick(1);
  EXPECT_THAT(Value(parent, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(Value(parent, GpuMetric::kPowerW), 300);
  EXPECT_THAT(Value(r, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kGrActive), 0.88);
  EXPECT_THAT(Value(r, GpuMetric::kPowerW), IsNoReading()) << "the card's";
}

// A12: a profiler holds the counters for 90 s.
TEST_F(DcgmTest, CountersThatGoBlankComeBackByThemselves) {
  const auto page = [](int n, const std::string& sm) {
    return Line("DCGM_FI_DEV_GPU_UTIL", "90") + Line("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", std::to_string(n * 1000)) +
           (sm.empty() ? "" : Line("DCGM_FI_PROF_SM_ACTIVE", sm));
  };
  page_ = page(1, "0.5");
  ASSERT_TRUE(source_->Open().ok());
  EXPECT_EQ(Value(Quick(), GpuMetric::kSmActive), 0.5);
  page_ = page(2, "140737488355328.0");
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmActive), IsNoReading());
  page_ = page(3, "");
  const CardReading r = Quick();
  EXPECT_THAT(Value(r, GpuMetric::kSmActive), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 90);
  page_ = page(4, "0.6");
  EXPECT_EQ(Value(Quick(), GpuMetric::kSmActive), 0.6);
}

TEST_F(DcgmTest, XidIsAnEventWhenItChanges) {
  page_ = Line("DCGM_FI_DEV_XID_ERRORS", "43");
  ASSERT_TRUE(source_->Open().ok());
  Quick();
  EXPECT_THAT(source_->TakeEvents(), IsEmpty()) << "it stood there before";
  page_ = Line("DCGM_FI_DEV_XID_ERRORS", "79", 0, ",err_code=\"79\",err_msg=\"GPU has fallen off the bus\"");
  Quick();
  Quick();
  EXPECT_THAT(source_->TakeEvents(), ElementsAre(AllOf(Field(&CardEvent::kind, "xid"), Field(&CardEvent::gpu, "0"),
                                                       Field(&CardEvent::detail, "xid=79"))));
}

TEST_F(DcgmTest, ExporterThatDoesNotAnswerIsUnreachableAndFoundAgain) {
  error_ = "Connection refused";
  SourceStatus status = source_->Open();
  EXPECT_EQ(status.trouble, Trouble::kUnreachable);
  EXPECT_THAT(status.detail, HasSubstr("9400/metrics: Connection refused"));
  error_.clear();
  page_ = "go_goroutines 12\n";
  EXPECT_EQ(source_->Open().trouble, Trouble::kUnreachable);
  page_ = Line("DCGM_FI_DEV_GPU_UTIL", "50");
  ASSERT_TRUE(source_->Open().ok());
  Quick();
  error_ = "Connection refused";
  EXPECT_EQ(Quick().outcome, Outcome::kReopen);
  error_.clear();
  page_ += Line("DCGM_FI_DEV_GPU_UTIL", "50", 1);
  EXPECT_EQ(Quick().outcome, Outcome::kReopen) << "another card has come";
  source_->Close();
  EXPECT_EQ(Quick().outcome, Outcome::kReopen);
}

TEST_F(DcgmTest, APageThatNamesNoCardIsNoAnswer) {  // an exporter that starts, a proxy's "bad gateway" with status 200
  for (const char* page : {"", "<html>502</html>", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0"}) {
    page_ = Line("DCGM_FI_DEV_GPU_UTIL", "90");
    ASSERT_TRUE(source_->Open().ok());
    EXPECT_EQ(Quick().outcome, Outcome::kOk);
    page_ = page;
    EXPECT_EQ(Quick().outcome, Outcome::kReopen) << page;
  }
}

}  // namespace
}  // namespace sawbill::gpu
