// SPDX-License-Identifier: Apache-2.0
#include "sys/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::sys {
namespace {

using testing::HasSubstr;

TEST(DynamicLibrary, FindsWhatTheLibraryExports) {
  auto library = OpenLibrary("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  auto* const cosine = reinterpret_cast<double (*)(double)>((*library)->Find("cos"));
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(DynamicLibrary, WhatItDoesNotExportIsNull) {
  auto library = OpenLibrary("libm.so.6");
  ASSERT_TRUE(library.ok());
  EXPECT_EQ((*library)->Find("sawbill_no_such_symbol"), nullptr);
}

TEST(DynamicLibrary, OneThatIsNotThereSaysSoInTheLoadersWords) {
  const auto library = OpenLibrary("libsawbill-no-such-library.so.1");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().kind(), StatusKind::kUnavailable);
  EXPECT_THAT(library.status().message(), HasSubstr("libsawbill-no-such-library.so.1"));
}

}  // namespace
}  // namespace sawbill::sys
