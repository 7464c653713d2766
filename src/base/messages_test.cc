// SPDX-License-Identifier: Apache-2.0
#include "base/messages.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace sawbill {
namespace {

/// The numbers of fmt placeholders in `text`; -1 for one that is not numbered or not well formed.
std::set<int> Placeholders(std::string_view text) {
  std::set<int> numbers;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') continue;
    if (i + 1 < text.size() && text[i + 1] == text[i]) {  // "{{" and "}}" stand for themselves
      ++i;
      continue;
    }
    const size_t end = text.find('}', i);
    if (text[i] == '}' || end == std::string_view::npos) return {-1};
    const std::string_view number =
        text.substr(i + 1, text.substr(i + 1, end - i - 1).find(':')).substr(0, end - i - 1);
    if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return {-1};
    numbers.insert(std::stoi(std::string(number)));
    i = end;
  }
  return numbers;
}

TEST(MessagesTest, BothLanguagesSayTheSameThings) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(Msg::kCount); ++i) {
    const Msg id = static_cast<Msg>(i);
    const std::string_view en = Text(Lang::kEn, id), zh = Text(Lang::kZh, id), name = MsgName(id);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(en.empty()) << name;
    EXPECT_FALSE(zh.empty()) << name;
    const std::set<int> in_en = Placeholders(en), in_zh = Placeholders(zh);
    EXPECT_EQ(in_en.count(-1), 0u) << name << ": number the placeholders: " << en;
    EXPECT_EQ(in_en, in_zh) << name << "\n  " << en << "\n  " << zh;
    // Without gaps, from 0: a number beyond the arguments would make fmt throw.
    const int past_last = in_en.empty() ? 0 : *in_en.rbegin() + 1;
    EXPECT_EQ(past_last, static_cast<int>(in_en.size())) << name << ": " << en;
    EXPECT_EQ(Sanitize(zh).find("\uFFFD"), std::string::npos) << name;
  }
  EXPECT_EQ(MsgName(Msg::kCount), "kCount");
}

TEST(MessagesTest, PlaceholderFinder) {
  EXPECT_EQ(Placeholders("{0} of {1:.2f}, {0}"), (std::set<int>{0, 1}));
  EXPECT_EQ(Placeholders("{{literal}}"), std::set<int>());
  EXPECT_EQ(Placeholders("{}"), std::set<int>{-1});
  EXPECT_EQ(Placeholders("{0"), std::set<int>{-1});
}

TEST(MessagesTest, LanguageFromLocale) {
  EXPECT_EQ(LangFromLocale(nullptr, nullptr, nullptr), Lang::kEn);
  EXPECT_EQ(LangFromLocale("", "", "zh_CN.UTF-8"), Lang::kZh);
  EXPECT_EQ(LangFromLocale("C", "zh_CN", "zh_CN"), Lang::kEn);
  EXPECT_EQ(LangFromLocale(nullptr, "zh_TW.UTF-8", "en_US"), Lang::kZh);
  EXPECT_EQ(ParseLang("zh"), Lang::kZh);
  EXPECT_EQ(ParseLang("en"), Lang::kEn);
  EXPECT_EQ(ParseLang("de"), std::nullopt);
  EXPECT_STREQ(LangCode(Lang::kZh), "zh");
}

}  // namespace
}  // namespace sawbill
