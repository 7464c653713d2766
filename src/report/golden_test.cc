// SPDX-License-Identifier: Apache-2.0
// What is printed, byte for byte. SAWBILL_UPDATE_GOLDEN=1 rewrites the files; look at `git diff` before keeping them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "report/render.h"
#include "report/testdata/sample_reports.h"

namespace sawbill::report {
namespace {

constexpr size_t kDiffLines = 12;

std::string Diff(const std::string& want, const std::string& got) {
  const std::vector<std::string_view> a = Split(want, '\n'), b = Split(got, '\n');
  std::string out;
  size_t shown = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) && shown < kDiffLines; ++i) {
    const std::string_view x = i < a.size() ? a[i] : "(end of file)", y = i < b.size() ? b[i] : "(end of file)";
    if (x == y) continue;
    out += fmt::format("line {}\n  - {}\n  + {}\n", i + 1, x.substr(0, 300), y.substr(0, 300));
    ++shown;
  }
  return out;
}

void ExpectGolden(const std::string& name, const std::string& got) {
  const std::string path = std::string(SAWBILL_SOURCE_DIR) + "/src/report/testdata/" + name;
  const char* update = std::getenv("SAWBILL_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << got;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; SAWBILL_UPDATE_GOLDEN=1 writes it";
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_TRUE(want.str() == got) << name << " differs (SAWBILL_UPDATE_GOLDEN=1 rewrites it)\n" << Diff(want.str(), got);
}

struct Sample {
  const char* name;
  Report (*make)(Lang);
};
constexpr Sample kSamples[] = {{"two_cards", TwoCards}, {"foreign_log", ForeignLog}, {"twelve_cards", TwelveCards}};
constexpr Lang kLangs[] = {Lang::kEn, Lang::kZh};

std::string FileName(const Sample& s, Lang lang, const char* ending) {
  return fmt::format("{}.{}.golden.{}", s.name, LangCode(lang), ending);
}

TEST(Golden, ReceiptsInBothLanguages) {
  for (const Sample& s : kSamples) {
    for (const Lang lang : kLangs) ExpectGolden(FileName(s, lang, "txt"), RenderText(s.make(lang), {}));
  }
}

TEST(Golden, NarrowAsciiReceipt) {
  TextStyle style;
  style.columns = 60;
  style.unicode = false;
  ExpectGolden("two_cards.ascii60.golden.txt", RenderText(TwoCards(Lang::kEn), style));
}

TEST(Golden, DiagnosesInBothLanguages) {
  for (const Lang lang : kLangs) {
    ExpectGolden(fmt::format("diagnosis.{}.golden.txt", LangCode(lang)), RenderDiagnosis(TwoCards(lang), {}));
  }
}

TEST(Golden, MarkdownInBothLanguages) {
  for (const Sample& s : kSamples) {
    for (const Lang lang : kLangs) ExpectGolden(FileName(s, lang, "md"), RenderMarkdown(s.make(lang)));
  }
}

TEST(Golden, HtmlInBothLanguages) {
  for (const Lang lang : kLangs) ExpectGolden(FileName(kSamples[0], lang, "html"), RenderHtml(TwoCards(lang)));
  ExpectGolden(FileName(kSamples[1], Lang::kEn, "html"), RenderHtml(ForeignLog(Lang::kEn)));
}

TEST(Golden, JsonAndCsv) {
  for (const Sample& s : kSamples) {
    const Report r = s.make(Lang::kEn);
    ExpectGolden(fmt::format("{}.golden.json", s.name), RenderJson(r));
    ExpectGolden(fmt::format("{}.golden.csv", s.name), RenderCsv(r));
  }
}

}  // namespace
}  // namespace sawbill::report
