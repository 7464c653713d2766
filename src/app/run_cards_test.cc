// SPDX-License-Identifier: Apache-2.0
#include "app/run_cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::app {
namespace {

using testing::ElementsAre;

class RunCardsTest : public testing::Test {
 protected:
  RunCardsTest() {
    env_.err = &err_;
    recorder_.facts.node = "n1";
    for (const char* gpu : {"0", "1", "2"}) recorder_.cards.push_back({gpu, std::string("GPU-") + gpu, "A100", ""});
  }
  std::vector<std::string> Visible(RunCards* cards) {
    std::vector<std::string> out;
    for (const model::CardInfo& c : cards->Visible(cards->Of(recorder_))) out.push_back(c.gpu);
    return out;
  }

  MemStream err_;
  Environment env_;
  Settings settings_;
  RunPlan plan_;
  collect::StatusSeen recorder_;
  std::shared_ptr<sys::MemProcFiles> files_ = std::make_shared<sys::MemProcFiles>();
};

TEST_F(RunCardsTest, ThoseThatTheCommandCanSee) {
  RunCards cards(plan_, settings_, &env_, files_);
  EXPECT_THAT(Visible(&cards), ElementsAre("0", "1", "2"));
  env_.vars["CUDA_VISIBLE_DEVICES"] = "2,0";
  EXPECT_THAT(Visible(&cards), ElementsAre("2", "0"));
  env_.vars["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(Visible(&cards), ElementsAre());
  plan_.bill = Bill::kAll;
  EXPECT_THAT(Visible(&cards), ElementsAre("0", "1", "2"));
}

TEST_F(RunCardsTest, OfAnAttachedProcessItsOwnEvenWhenItIsGone) {
  plan_.attach = 4711;
  env_.vars["CUDA_VISIBLE_DEVICES"] = "0";  // that of this shell
  files_->Put("/proc/4711/environ", std::string("A=b\0CUDA_VISIBLE_DEVICES=1\0", 27));
  RunCards cards(plan_, settings_, &env_, files_);
  cards.AttachedTo(4711);
  EXPECT_THAT(Visible(&cards), ElementsAre("1"));
  files_ = nullptr;  // it ended: the bill is of the same cards
  EXPECT_THAT(Visible(&cards), ElementsAre("1"));
}

}  // namespace
}  // namespace sawbill::app
