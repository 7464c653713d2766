// SPDX-License-Identifier: Apache-2.0
#include "ingest/json_feed.h"

#include <gtest/gtest.h>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::ingest {
namespace {

/// What was read, as one line: "{a=1 b='x' [2 3] }".
class Trace : public JsonEvents {
 public:
  void Open(std::string_view key, bool array) override { Add(key, array ? "[" : "{"); }
  void Close() override { text += ") "; }
  void Number(std::string_view key, double value) override { Add(key, FormatShortest(value) + " "); }
  void Text(std::string_view key, std::string_view value) override { Add(key, "'" + std::string(value) + "' "); }
  void Nothing(std::string_view key) override { Add(key, "- "); }
  void Broken() override { text += "BROKEN "; }
  std::string text;

 private:
  void Add(std::string_view key, const std::string& value) {
    text += std::string(key) + (key.empty() ? "" : "=") + value;
  }
};

std::string Read(std::string_view text) {
  Trace trace;
  JsonFeed feed(&trace);
  for (const std::string_view line : Split(text, '\n')) feed.Line(line);
  feed.End();
  return std::string(Trim(trace.text)) + (feed.broken() > 0 ? " broken " + std::to_string(feed.broken()) : "");
}

TEST(JsonFeed, OneDocumentALine) { EXPECT_EQ(Read("{\"a\": 1}\n{\"b\": [2, null]}\n"), "{a=1 ) {b=[2 - ) )"); }

TEST(JsonFeed, DocumentsOverManyLines) {
  EXPECT_EQ(Read("{\n  \"a\":\n    1,\n  \"b\": {\n  }\n}\n{\n  \"a\": 2\n}\n"), "{a=1 b={) ) {a=2 )");
}

TEST(JsonFeed, DocumentsWithoutALineBreakBetweenThem) {
  EXPECT_EQ(Read("{\"a\": 1}{\"a\": 2}{\"a\": 3}"), "{a=1 ) {a=2 ) {a=3 )");
  for (const char* between : {"", ", ", " "}) {
    const std::string next = "}" + std::string(between) + "{\n";
    EXPECT_EQ(Read("{\n  \"a\": 1\n" + next + "  \"a\": 2\n" + next + "  \"a\": 3\n}"), "{a=1 ) {a=2 ) {a=3 )");
    // The first was cut off at its head: the second and third are whole.
    EXPECT_EQ(Read("  \"a\": 1\n" + next + "  \"a\": 2\n" + next + "  \"a\": 3\n}"), "{a=2 ) {a=3 ) broken 2");
  }
}

TEST(JsonFeed, TheElementsOfAnArray) {
  for (const char* text : {"[\n{\"a\":1},\n{\"a\":2}\n]\n", "[{\"a\":1},\n{\"a\":2}]\n"}) {
    EXPECT_EQ(Read(text), "{a=1 ) {a=2 )") << text;
  }
  for (const char* text : {"[{\"a\":1},{\"a\":2}]", "[\n  {\"a\":1},\n  {\n    \"a\":2\n  }\n]\n"}) {
    EXPECT_EQ(Read(text), "[{a=1 ) {a=2 ) )") << text;
  }
}

TEST(JsonFeed, ATornDocumentCostsNoOther) {
  EXPECT_EQ(Read("{\"a\": 1, \"b\n{\"a\": 2}\n{\"a\": }\n{\"a\": 3}\n"), "{a=1 BROKEN {a=2 ) {BROKEN {a=3 ) broken 2");
  EXPECT_EQ(Read("{\n  \"a\": 1,\n{\n  \"a\": 2\n}\n"), "{a=1 BROKEN {a=2 ) broken 1");
}

TEST(JsonFeed, WhatIsNoNumberIsNothing) { EXPECT_EQ(Read("{\"a\": NaN, \"b\": true}"), "{a=- b=- )"); }

TEST(JsonFeed, EscapesAreDecoded) { EXPECT_EQ(Read("{\"a\\u0062\": \"x\\\"y\"}"), "{ab='x\"y' )"); }

}  // namespace
}  // namespace sawbill::ingest
