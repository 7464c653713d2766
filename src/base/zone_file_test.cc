// SPDX-License-Identifier: Apache-2.0
#include "base/zone_file.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace sawbill {
namespace {

int64_t S(const char* rfc3339) { return *ParseRfc3339(rfc3339) / 1000; }

std::string Number(int64_t v, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(static_cast<uint64_t>(v) >> (8 * i));
  return out;
}

/// A version-2 file as a slim database has it: `changes` of (instant, type), offsets by type, a rule.
std::string TzFile(const std::vector<std::pair<int64_t, int>>& changes, const std::vector<int>& offsets,
                   const std::string& rule) {
  const auto header = [](size_t times, size_t types) {
    return "TZif2" + std::string(15, '\0') + Number(0, 4) + Number(0, 4) + Number(0, 4) +
           Number(static_cast<int64_t>(times), 4) + Number(static_cast<int64_t>(types), 4) + Number(4, 4);
  };
  std::string out = header(0, 1) + Number(0, 4) + std::string(2, '\0') + std::string("LMT\0", 4);
  out += header(changes.size(), offsets.size());
  for (const auto& c : changes) out += Number(c.first, 8);
  for (const auto& c : changes) out += static_cast<char>(c.second);
  for (const int o : offsets) out += Number(o, 4) + std::string(2, '\0');
  return out + std::string("LMT\0", 4) + "\n" + rule + "\n";
}

TEST(ZoneFile, ARuleGoesOnWhereASlimFileEnds) {
  const auto berlin =
      ZoneFile::Parse(TzFile({{S("1996-03-31T01:00:00Z"), 1}}, {3600, 7200}, "CET-1CEST,M3.5.0,M10.5.0/3"));
  ASSERT_NE(berlin, nullptr);
  EXPECT_EQ(berlin->At(S("2026-03-29T00:59:59Z")).offset_s, 3600);
  EXPECT_EQ(berlin->At(S("2026-03-29T01:00:00Z")).offset_s, 7200);
  EXPECT_EQ(berlin->At(S("2026-03-29T01:00:00Z")).end_s, S("2026-10-25T01:00:00Z"));
  EXPECT_EQ(berlin->At(S("2026-10-25T01:00:00Z")).offset_s, 3600);
  EXPECT_EQ(berlin->At(S("1990-01-01T00:00:00Z")).offset_s, 3600);
}

TEST(ZoneFile, TheSouthHasItsSummerOverNewYear) {
  const auto sydney = ZoneFile::Parse(TzFile({}, {36000}, "AEST-10AEDT,M10.1.0,M4.1.0/3"));
  EXPECT_EQ(sydney->At(S("2026-01-15T00:00:00Z")).offset_s, 39600);
  EXPECT_EQ(sydney->At(S("2026-07-15T00:00:00Z")).offset_s, 36000);
  EXPECT_EQ(sydney->At(S("2026-04-04T15:59:59Z")).offset_s, 39600);
  EXPECT_EQ(sydney->At(S("2026-04-04T16:00:00Z")).offset_s, 36000);
}

TEST(ZoneFile, OddRulesOfRealZones) {
  // Names in brackets, half hours, days before the month's, hours beyond the day.
  EXPECT_EQ(ZoneFile::Parse(TzFile({}, {0}, "<+0330>-3:30"))->At(0).offset_s, 3 * 3600 + 1800);
  const auto godthab = ZoneFile::Parse(TzFile({}, {-7200}, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"));
  EXPECT_EQ(godthab->At(S("2026-03-29T00:59:59Z")).offset_s, -7200);
  EXPECT_EQ(godthab->At(S("2026-03-29T01:00:00Z")).offset_s, -3600);
  const auto gaza = ZoneFile::Parse(TzFile({}, {7200}, "EET-2EEST,M3.4.4/50,M10.4.4/50"));
  EXPECT_EQ(gaza->At(S("2026-03-27T23:59:59Z")).offset_s, 7200);
  EXPECT_EQ(gaza->At(S("2026-03-28T00:00:00Z")).offset_s, 10800);
  // Dublin's winter is the exception of its law, and the offset of it stands behind the name.
  const auto dublin = ZoneFile::Parse(TzFile({}, {3600}, "IST-1GMT0,M10.5.0,M3.5.0/1"));
  EXPECT_EQ(dublin->At(S("2026-01-15T00:00:00Z")).offset_s, 0);
  EXPECT_EQ(dublin->At(S("2026-07-15T00:00:00Z")).offset_s, 3600);
}

TEST(ZoneFile, LocalTimesThatComeTwiceOrNotAtAll) {
  const auto berlin = ZoneFile::Parse(TzFile({}, {3600}, "CET-1CEST,M3.5.0,M10.5.0/3"));
  EXPECT_EQ(berlin->FromLocal(S("2026-10-25T02:30:00Z")), S("2026-10-25T00:30:00Z"));
  EXPECT_EQ(berlin->FromLocal(S("2026-03-29T02:30:00Z")), S("2026-03-29T01:00:00Z"));
  EXPECT_EQ(berlin->FromLocal(S("2026-07-01T12:00:00Z")), S("2026-07-01T10:00:00Z"));
}

TEST(ZoneFile, WhatIsNoZoneIsNone) {
  EXPECT_EQ(ZoneFile::Parse(""), nullptr);
  EXPECT_EQ(ZoneFile::Parse("TZif2"), nullptr);
  const std::string sound = TzFile({{0, 1}}, {3600, 7200}, "CET-1");
  for (size_t n = 0; n < sound.size() - 7; ++n) EXPECT_EQ(ZoneFile::Parse(sound.substr(0, n)), nullptr) << n;
  EXPECT_EQ(ZoneFile::Parse(TzFile({{0, 9}}, {3600}, "CET-1")), nullptr);  // a type that is not there
  EXPECT_NE(ZoneFile::Parse(TzFile({}, {3600}, "nonsense")), nullptr);     // the offset stands
  for (const char* name : {"", "/etc/passwd", "../../etc/passwd", "Europe", "No/Such"})
    EXPECT_EQ(ZoneFile::Locate(name), nullptr) << name;
}

TEST(ZoneFile, EveryZoneOfTheMachineIsRead) {
  const ZoneFile* berlin = ZoneFile::Locate("Europe/Berlin");
  if (berlin == nullptr) GTEST_SKIP() << "no tzdata here";
  EXPECT_EQ(berlin->At(S("2026-07-15T12:00:00Z")).offset_s, 7200);
  EXPECT_EQ(berlin->At(S("2150-07-15T12:00:00Z")).offset_s, 7200);
  EXPECT_EQ(ZoneFile::Locate("America/New_York")->At(S("2026-03-08T07:00:00Z")).offset_s, -4 * 3600);
  EXPECT_EQ(ZoneFile::Locate("Asia/Kathmandu")->At(0).offset_s, 5 * 3600 + 1800);  // +5:30 until 1986
}

}  // namespace
}  // namespace sawbill
