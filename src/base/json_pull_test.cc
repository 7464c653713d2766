// SPDX-License-Identifier: Apache-2.0
#include "base/json_pull.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace sawbill {
namespace {

/// Everything that comes, in short: "{ k:a 1 s:x }".
std::string Tokens(JsonPull* json) {
  std::string out, scratch;
  const auto add = [&](const std::string& s) { out += (out.empty() ? "" : " ") + s; };
  for (;;) {
    switch (json->Next()) {
      case JsonToken::kObject:
        add("{");
        break;
      case JsonToken::kObjectEnd:
        add("}");
        break;
      case JsonToken::kArray:
        add("[");
        break;
      case JsonToken::kArrayEnd:
        add("]");
        break;
      case JsonToken::kKey:
        add("k:" + std::string(json->Text(&scratch)));
        break;
      case JsonToken::kString:
        add("s:" + std::string(json->Text(&scratch)));
        break;
      case JsonToken::kNumber:
        add(std::string(json->raw()));
        break;
      case JsonToken::kTrue:
        add("true");
        break;
      case JsonToken::kFalse:
        add("false");
        break;
      case JsonToken::kNull:
        add("null");
        break;
      case JsonToken::kEnd:
        return out;
      case JsonToken::kError: {
        static const char* const kNames[] = {"none", "cut off", "syntax", "too deep", "too long"};
        add(std::string("error: ") + kNames[static_cast<size_t>(json->error())]);
        return out;
      }
    }
  }
}

std::string Whole(std::string_view text) {
  JsonPull json(text);
  return Tokens(&json);
}

std::string InBlocks(std::string_view text, size_t bytes) {
  // Each block is copied, so that what still points into an old one is found by the sanitiser.
  std::string block;
  JsonPull json([&]() -> std::string_view {
    block = std::string(text.substr(0, bytes));
    block.shrink_to_fit();
    text.remove_prefix(block.size());
    return block;
  });
  return Tokens(&json);
}

TEST(JsonPull, TokensComeInOrder) {
  EXPECT_EQ(Whole(R"({"a": [1, -2.5e3, "x"], "b": {}, "c": true, "d": false, "e": null, "f": []})"),
            "{ k:a [ 1 -2.5e3 s:x ] k:b { } k:c true k:d false k:e null k:f [ ] }");
  EXPECT_EQ(Whole("  12  "), "12");
  EXPECT_EQ(Whole(""), "");
}

TEST(JsonPull, NumbersStayTextUntilAsked) {
  JsonPull json(R"([1435781430.781, "97.5", "NaN", 9223372036854775807, "x"])");
  json.Next();
  json.Next();
  EXPECT_EQ(json.raw(), "1435781430.781");
  EXPECT_EQ(json.Number(), 1435781430.781);
  json.Next();
  EXPECT_EQ(json.Number(), 97.5) << "a string that holds a number";
  json.Next();
  EXPECT_TRUE(IsMissing(json.Number()));
  json.Next();
  EXPECT_EQ(json.raw(), "9223372036854775807") << "no digit is lost";
  json.Next();
  EXPECT_TRUE(IsMissing(json.Number()));
}

TEST(JsonPull, EscapesAreDecodedOnDemand) {
  EXPECT_EQ(Whole(R"(["a\"b\\c\/d\n\t"])"), "[ s:a\"b\\c/d\n\t ]");
  EXPECT_EQ(Whole(R"(["\u0041\u00e9\u663e\ud83d\ude00"])"), "[ s:A\u00e9\u663e\U0001F600 ]");
  EXPECT_EQ(Whole(R"(["\ud83d", "\ude00x", "\u12", "\q"])"), "[ s:\uFFFD s:\uFFFDx s:\\u12 s:\\q ]");
  EXPECT_EQ(Whole(R"({"\u0061b": 1})"), "{ k:ab 1 }");
  JsonPull plain(R"(["no escape"])");
  plain.Next();
  plain.Next();
  EXPECT_FALSE(plain.escaped());
}

TEST(JsonPull, WhatProgramsReallyWriteIsRead) {
  EXPECT_EQ(Whole("\xEF\xBB\xBF{\"a\":1}"), "{ k:a 1 }") << "a byte order mark";
  EXPECT_EQ(Whole("[NaN, Infinity, -Infinity]"), "[ NaN Infinity -Infinity ]") << "Python";
  EXPECT_EQ(Whole("{\"a\":[1,2,],}"), "{ k:a [ 1 2 ] }") << "a comma too many";
  EXPECT_EQ(Whole("[\"\xFF\xFE\n\x01\"]"), "[ s:\xFF\xFE\n\x01 ]") << "invalid UTF-8 and control characters";
  EXPECT_EQ(Whole("{\"a\":1}\r\n{\"a\":2}\r\n"), "{ k:a 1 } { k:a 2 }") << "JSON lines";
}

TEST(JsonPull, AFileThatEndsInTheMiddleGivesWhatWasThere) {
  EXPECT_EQ(Whole(R"({"a":[1,2)"), "{ k:a [ 1 2 error: cut off");
  EXPECT_EQ(Whole(R"({"a":"xy)"), "{ k:a error: cut off");
  EXPECT_EQ(Whole(R"({"a")"), "{ error: cut off");
  EXPECT_EQ(Whole(R"({"a":)"), "{ k:a error: cut off");
  EXPECT_EQ(Whole("[1,"), "[ 1 error: cut off");
  EXPECT_EQ(Whole("[\"a\\"), "[ error: cut off");
}

TEST(JsonPull, WhatIsNoJsonIsAnErrorThatStays) {
  for (const char* text : {"{a:1}", "[1 2]", "{\"a\" 1}", "]", "[}", "{\"a\":}", "[hello]", "{]", "timestamp,gpu"}) {
    JsonPull json(text);
    const std::string said = Tokens(&json);
    EXPECT_TRUE(said.ends_with("error: syntax")) << text << " -> " << said;
    EXPECT_EQ(json.Next(), JsonToken::kError);
  }
}

TEST(JsonPull, DepthIsBounded) {
  EXPECT_TRUE(Whole(std::string(JsonPull::kMaxDepth, '[')).ends_with("cut off"));
  EXPECT_TRUE(Whole(std::string(JsonPull::kMaxDepth + 1, '[')).ends_with("too deep"));
}

TEST(JsonPull, SkippingLeavesOffBehindTheValue) {
  JsonPull json(R"({"skip":{"a":[{}, {"b":[[]]}]},"plain":"x","keep":7})");
  json.Next();
  json.Next();
  ASSERT_TRUE(json.Skip());
  EXPECT_EQ(json.depth(), 1U);
  EXPECT_EQ(json.Next(), JsonToken::kKey);
  EXPECT_EQ(json.raw(), "plain");
  ASSERT_TRUE(json.Skip());
  EXPECT_EQ(json.Next(), JsonToken::kKey);
  EXPECT_EQ(json.raw(), "keep");
  json.Next();
  EXPECT_EQ(json.Number(), 7);
  JsonPull cut("{\"a\":[1,");
  cut.Next();
  cut.Next();
  EXPECT_FALSE(cut.Skip());
}

TEST(JsonPull, AReaderMayTakeElementsOffItself) {
  JsonPull json("[[1,2],[3,4], [5,6]]");
  json.Next();
  EXPECT_EQ(json.Rest(), "[1,2],[3,4], [5,6]]");
  json.Consume(11);
  EXPECT_EQ(json.Next(), JsonToken::kArray);
  json.Next();
  EXPECT_EQ(json.raw(), "5");
  JsonPull all("[1,2]");
  all.Next();
  all.Consume(3);
  EXPECT_EQ(all.Next(), JsonToken::kArrayEnd);
  EXPECT_EQ(all.Next(), JsonToken::kEnd);
}

TEST(JsonPull, OffsetsAreThoseOfTheFile) {
  const std::string text = "  {\"a\" : [1, 22]}";
  for (const size_t bytes : {1U, 3U, 100U}) {
    std::string_view rest = text;
    JsonPull json([&] {
      const std::string_view block = rest.substr(0, bytes);
      rest.remove_prefix(block.size());
      return block;
    });
    std::vector<int64_t> ends;
    while (json.Next() != JsonToken::kEnd) ends.push_back(json.offset());
    EXPECT_EQ(ends, (std::vector<int64_t>{3, 8, 10, 11, 15, 16, 17})) << bytes;
  }
}

TEST(JsonPull, BlocksMayCutAnywhere) {
  const std::string text =
      "\xEF\xBB\xBF {\"key\\n one\" \n : [1435781430.781, \"a\\u0041\\\\\", true, null, -Infinity],\n\"k\":{}, } "
      "{\"x\":[]}";
  const std::string whole = Whole(text);
  for (size_t bytes = 3; bytes <= text.size(); ++bytes) EXPECT_EQ(InBlocks(text, bytes), whole) << bytes;
}

RC_GTEST_PROP(JsonPull, AnyBytesEnd, (const std::string& bytes)) {
  // Of JSON's own characters, so that more than the first is looked at.
  static constexpr std::string_view kAlphabet = "{}[]\",:\\ u1eantrfls\n\x80";
  std::string text;
  for (const char c : bytes) text += kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  const std::string whole = Whole(text);
  RC_ASSERT(InBlocks(text, 4) == whole);
}

}  // namespace
}  // namespace sawbill
