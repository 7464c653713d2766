// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace sawbill {
namespace {

TEST(StatusTest, OkIsOk) {
  EXPECT_TRUE(Status::Ok().ok());
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().exit_code(), 0);
  EXPECT_EQ(Status().message(), "");
}

TEST(StatusTest, ExitCodesByKind) {
  EXPECT_EQ(Status::Invalid("x").exit_code(), 2);
  EXPECT_EQ(Status::NotFound("x").exit_code(), 2);
  EXPECT_EQ(Status::Unsupported("x").exit_code(), 2);
  EXPECT_EQ(Status::Unavailable("x").exit_code(), 3);
  EXPECT_EQ(Status::Io("x").exit_code(), 3);
}

TEST(StatusTest, AtPutsThePlaceInFrontAndKeepsTheKind) {
  const Status s = Status::Invalid("not a number").At("prices.toml:3");
  EXPECT_EQ(s.message(), "prices.toml:3: not a number");
  EXPECT_EQ(s.kind(), StatusKind::kInvalid);
  EXPECT_TRUE(Status::Ok().At("x").ok());
  EXPECT_EQ(Status::Ok().At("x").message(), "");
}

TEST(ResultTest, HoldsAValueOrAStatus) {
  Result<int> seven(7);
  ASSERT_TRUE(seven.ok());
  EXPECT_EQ(*seven, 7);
  EXPECT_TRUE(seven.status().ok());
  const Result<int> no(Status::NotFound("gone"));
  EXPECT_FALSE(no.ok());
  EXPECT_EQ(no.status().message(), "gone");
}

TEST(ResultTest, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(3));
  const std::unique_ptr<int> p = *std::move(r);
  EXPECT_EQ(*p, 3);
}

TEST(ResultDeathTest, MisuseAborts) {
  const Result<int> no(Status::NotFound("gone"));
  EXPECT_DEATH((void)no.value(), "internal error");
  EXPECT_DEATH((void)Result<int>(Status::Ok()), "internal error");
}

Result<int> Half(int v) {
  if (v % 2 != 0) return Status::Invalid("odd");
  return v / 2;
}

Result<int> Quarter(int v) {
  SAWBILL_ASSIGN_OR_RETURN(const int half, Half(v));
  SAWBILL_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status CheckQuarter(int v) {
  SAWBILL_RETURN_IF_ERROR(Quarter(v).status());
  return Status::Ok();
}

TEST(ResultTest, MacrosReturnTheFirstError) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_TRUE(CheckQuarter(4).ok());
  EXPECT_FALSE(CheckQuarter(5).ok());
}

}  // namespace
}  // namespace sawbill
