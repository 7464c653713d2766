// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

TEST(DisplayWidthTest, Narrow) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("plain"), 5);
  EXPECT_EQ(DisplayWidth("▁▂▃▄▅▆▇█"), 8);
  EXPECT_EQ(DisplayWidth("─│┌┐└┘├┤┬┴┼"), 11);
  EXPECT_EQ(DisplayWidth("é°µ€…—·×✓→"), 10);
  EXPECT_EQ(DisplayWidth("ｱｲｳ"), 3);  // half-width kana
}

TEST(DisplayWidthTest, Wide) {
  EXPECT_EQ(DisplayWidth("显卡"), 4);
  EXPECT_EQ(DisplayWidth("カナ"), 4);
  EXPECT_EQ(DisplayWidth("한글"), 4);
  EXPECT_EQ(DisplayWidth("ＡＢ１"), 6);
  EXPECT_EQ(DisplayWidth("，。（）"), 8);
  EXPECT_EQ(DisplayWidth("￥"), 2);
  EXPECT_EQ(DisplayWidth("🚀"), 2);
  EXPECT_EQ(DisplayWidth("𠀀"), 2);
}

TEST(DisplayWidthTest, ZeroWidthAndInvalid) {
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
  EXPECT_EQ(DisplayWidth("a\u200Bb"), 2);
  EXPECT_EQ(DisplayWidth("\u3099"), 0);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2);
  EXPECT_EQ(DisplayWidth("\xe6\x98"), 2);          // cut in the middle
  EXPECT_EQ(DisplayWidth("\xc0\xaf"), 2);          // overlong
  EXPECT_EQ(DisplayWidth("\xed\xa0\x80"), 3);      // surrogate
  EXPECT_EQ(DisplayWidth("\xf4\x90\x80\x80"), 4);  // beyond Unicode
}

TEST(PadTest, ByColumns) {
  EXPECT_EQ(Pad("ab", 4), "ab  ");
  EXPECT_EQ(Pad("ab", 4, Align::kRight), "  ab");
  EXPECT_EQ(Pad("显卡", 6), "显卡  ");
  EXPECT_EQ(Pad("longer", 3), "longer");
}

TEST(EllipsizeTest, NeverCutsACharacter) {
  EXPECT_EQ(Ellipsize("abcdef", 6), "abcdef");
  EXPECT_EQ(Ellipsize("abcdef", 5), "abcd…");
  EXPECT_EQ(Ellipsize("abcdef", 1), "…");
  EXPECT_EQ(Ellipsize("abcdef", 0), "");
  EXPECT_EQ(Ellipsize("显卡利用率", 10), "显卡利用率");
  EXPECT_EQ(Ellipsize("显卡利用率", 9), "显卡利用…");
  EXPECT_EQ(Ellipsize("显卡利用率", 8), "显卡利…");
  EXPECT_EQ(Ellipsize("e\u0301e\u0301e\u0301", 2), "e\u0301…");
}

TEST(WrapTest, AtBlanks) {
  EXPECT_THAT(Wrap("the card idles at night", 10), ElementsAre("the card", "idles at", "night"));
  EXPECT_THAT(Wrap("a extraordinarily b", 5), ElementsAre("a", "extraordinarily", "b"));
  EXPECT_THAT(Wrap("a  b", 10), ElementsAre("a  b"));
  EXPECT_THAT(Wrap("  indented text", 10), ElementsAre("  indented", "text"));
  EXPECT_THAT(Wrap("", 10), ElementsAre(""));
  EXPECT_THAT(Wrap("one\n\ntwo", 10), ElementsAre("one", "", "two"));
}

TEST(WrapTest, BetweenWideCharacters) {
  EXPECT_THAT(Wrap("显卡利用率低", 6), ElementsAre("显卡利", "用率低"));
  EXPECT_THAT(Wrap("显卡利用率低", 1), ElementsAre("显", "卡", "利", "用", "率", "低"));
  EXPECT_THAT(Wrap("卡 GPU0 空闲", 7), ElementsAre("卡 GPU0", "空闲"));
}

TEST(WrapTest, PunctuationStaysWithItsNeighbour) {
  EXPECT_THAT(Wrap("显卡利。用率", 6), ElementsAre("显卡", "利。用", "率"));
  EXPECT_THAT(Wrap("显卡利（用）", 8), ElementsAre("显卡利", "（用）"));
}

TEST(WrapTest, NothingIsLostAndLinesFit) {
  const std::string text = "Card 3 用电 412 W，比同类高 18 %；检查 dataloader 的 num_workers（现为 2）。";
  for (int width = 14; width < 60; ++width) {
    std::string joined;
    for (const std::string& line : Wrap(text, width)) {
      EXPECT_LE(DisplayWidth(line), width) << line;
      joined += line;
    }
    std::string expected = text;
    std::erase(expected, ' ');
    std::erase(joined, ' ');
    EXPECT_EQ(joined, expected);
  }
}

TEST(SanitizeTest, ControlCharactersAndBadBytes) {
  EXPECT_EQ(Sanitize("plain 显卡"), "plain 显卡");
  EXPECT_EQ(Sanitize("\x1b[31mred\n\t\x7f"), "?[31mred???");
  EXPECT_EQ(Sanitize("a\0b"s), "a?b");
  EXPECT_EQ(Sanitize("\u009b31m"), "?31m");
  EXPECT_EQ(Sanitize("\u202Egpj.exe"), "?gpj.exe");
  EXPECT_EQ(Sanitize("\xff!"), "\uFFFD!");
  EXPECT_EQ(Sanitize("\xe6\x98"), "\uFFFD\uFFFD");
}

TEST(TrimTest, BothEnds) {
  EXPECT_EQ(Trim("  a b \r\n"), "a b");
  EXPECT_EQ(Trim(" \t"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(SplitTest, KeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(TextTest, SmallHelpers) {
  EXPECT_EQ(Join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(ToLower("GPU-É"), "gpu-É");
  EXPECT_TRUE(StartsWith("abc", "ab"));
  EXPECT_FALSE(StartsWith("a", "ab"));
  EXPECT_TRUE(EndsWith("abc", "bc"));
  EXPECT_FALSE(EndsWith("c", "bc"));
}

TEST(EscapeTest, Html) { EXPECT_EQ(EscapeHtml("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"); }

TEST(EscapeTest, Csv) {
  EXPECT_EQ(EscapeCsv("plain text"), "plain text");
  EXPECT_EQ(EscapeCsv("a,b"), "\"a,b\"");
  EXPECT_EQ(EscapeCsv("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(EscapeCsv("a\nb"), "\"a\nb\"");
}

TEST(GlobTest, Matches) {
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("NVIDIA A100*", "NVIDIA A100-SXM4-80GB"));
  EXPECT_TRUE(GlobMatch("*A100*80GB", "NVIDIA A100-SXM4-80GB"));
  EXPECT_TRUE(GlobMatch("gpu?", "gpu7"));
  EXPECT_TRUE(GlobMatch("显?", "显卡"));
  EXPECT_TRUE(GlobMatch("*?卡", "显卡"));
  EXPECT_FALSE(GlobMatch("gpu?", "gpu"));
  EXPECT_FALSE(GlobMatch("GPU*", "gpu0"));
  EXPECT_FALSE(GlobMatch("", "x"));
  EXPECT_TRUE(GlobMatch("", ""));
  EXPECT_FALSE(GlobMatch("a*b*c", "a-b-d"));
  EXPECT_FALSE(GlobMatch("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));  // in time
}

TEST(NearestTest, DidYouMean) {
  const std::vector<std::string> names = {"report", "record", "rules", "receipt"};
  EXPECT_EQ(Nearest("reprot", names), "report");
  EXPECT_EQ(Nearest("recrod", names), "record");
  EXPECT_EQ(Nearest("rules", names), "rules");
  EXPECT_EQ(Nearest("recipt", names), "receipt");
  EXPECT_EQ(Nearest("zebra", names), "");
  EXPECT_EQ(Nearest("ru", {"rm"}), "");  // half the word is not near
  EXPECT_EQ(Nearest("", names), "");
}

}  // namespace
}  // namespace sawbill
