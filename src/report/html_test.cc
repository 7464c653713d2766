// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "base/text.h"
#include "report/render.h"
#include "report/testdata/hostile_report.h"
#include "report/testdata/sample_reports.h"

namespace sawbill::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Names of tags in order, "/x" for an end; fails on one that this report does not use.
std::vector<std::string> Tags(const std::string& html) {
  static const std::set<std::string> kKnown = {
      "!doctype", "html",    "head", "meta", "title", "style", "body", "main", "header", "h1",
      "h2",       "h3",      "h4",   "span", "div",   "dl",    "dt",   "dd",   "p",      "small",
      "section",  "article", "ul",   "ol",   "li",    "b",     "code", "br",   "table",  "thead",
      "tbody",    "tfoot",   "tr",   "th",   "td",    "svg",   "rect", "path", "footer"};
  std::vector<std::string> tags;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    size_t end = html.find_first_of(" >", at);
    std::string name = html.substr(at + 1, end - at - 1);
    EXPECT_TRUE(kKnown.count(name[0] == '/' ? name.substr(1) : name)) << name;
    if (html[html.find('>', at) - 1] == '/') continue;
    tags.push_back(name);
  }
  return tags;
}

void ExpectBalanced(const std::string& html) {
  std::vector<std::string> open;
  for (const std::string& tag : Tags(html)) {
    if (tag == "!doctype" || tag == "meta" || tag == "br") continue;
    if (tag[0] != '/') {
      open.push_back(tag);
    } else {
      ASSERT_FALSE(open.empty()) << tag;
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Html, IsSelfContainedAndBalanced) {
  for (const Lang lang : {Lang::kEn, Lang::kZh}) {
    for (const Report& r : {TwoCards(lang), ForeignLog(lang), TwelveCards(lang), HostileReport(lang), Report()}) {
      const std::string html = RenderHtml(r);
      ExpectBalanced(html);
      EXPECT_THAT(html, Not(HasSubstr("<script")));
      EXPECT_THAT(html, Not(HasSubstr("href=")));
      EXPECT_THAT(html, Not(HasSubstr("src=")));
      EXPECT_THAT(html, Not(HasSubstr("url(")));
      EXPECT_THAT(html, Not(HasSubstr("@import")));
    }
  }
}

TEST(Html, NamesFromOutsideAreEscaped) {
  std::string html = RenderHtml(HostileReport(Lang::kEn));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  std::erase(html, '\n');
  EXPECT_EQ(html, Sanitize(html));
}

TEST(Html, SaysItsLanguageAndNamesItsTablesAndCharts) {
  EXPECT_THAT(RenderHtml(TwoCards(Lang::kZh)), HasSubstr("<html lang=\"zh-CN\">"));
  const std::string html = RenderHtml(TwoCards(Lang::kEn));
  EXPECT_THAT(html, HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\""));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\""));
  EXPECT_THAT(html, HasSubstr("role=\"img\" aria-label="));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

TEST(Html, HasAColourForEachLedgerLine) {
  const std::string html = RenderHtml(TwoCards(Lang::kEn));
  for (size_t i = 0; i < model::kLines; ++i) {
    EXPECT_THAT(html, HasSubstr("--" + std::string(model::Name(static_cast<model::Line>(i))) + ":#"));
  }
}

TEST(Html, StaysSmallWithAThousandCards) {
  Report r = TwelveCards(Lang::kEn);
  const std::vector<GpuRow> twelve = r.gpus;
  while (r.gpus.size() < 1000) {
    r.gpus.push_back(twelve[r.gpus.size() % 12]);
    r.gpus.back().gpu = std::to_string(r.gpus.size());
    for (int k = 0; k < 5; ++k) {
      r.gpus.back().wave.insert(r.gpus.back().wave.end(), twelve[0].wave.begin(), twelve[0].wave.end());
      r.gpus.back().wave_low.insert(r.gpus.back().wave_low.end(), twelve[0].wave_low.begin(), twelve[0].wave_low.end());
    }
    r.runs.push_back(r.runs[0]);
    r.groups.push_back(r.groups[0]);
  }
  const Finding one = TwoCards(Lang::kEn).findings[0];
  r.findings.assign(200, one);
  EXPECT_LT(RenderHtml(r).size(), 150'000u);
}

TEST(Html, TheWaveHasAHoleWhereNothingWasMeasured) {
  EXPECT_THAT(RenderHtml(ForeignLog(Lang::kEn)), HasSubstr("class=\"hole\" x=\"20\" y=\"0\" width=\"20\""));
}

TEST(Markdown, TableRowsKeepTheirColumnsWhateverTheNames) {
  for (const Report& r : {TwoCards(Lang::kEn), TwelveCards(Lang::kZh), HostileReport(Lang::kEn)}) {
    size_t columns = 0;
    const std::string md = RenderMarkdown(r);
    for (const std::string_view line : Split(md, '\n')) {
      if (!StartsWith(line, "|")) {
        columns = 0;
        continue;
      }
      size_t bars = 0;
      for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
      if (columns == 0) columns = bars;
      EXPECT_EQ(bars, columns) << line;
    }
  }
}

TEST(Markdown, NamesFromOutsideAreEscaped) {
  std::string md = RenderMarkdown(HostileReport(Lang::kEn));
  EXPECT_THAT(md, Not(HasSubstr("<script")));
  EXPECT_THAT(md, Not(HasSubstr("![i](")));
  EXPECT_THAT(md, Not(HasSubstr("nan")));
  std::erase(md, '\n');
  EXPECT_EQ(md, Sanitize(md));
}

}  // namespace
}  // namespace sawbill::report
