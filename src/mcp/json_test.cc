// SPDX-License-Identifier: Apache-2.0
// Lines that all readers read alike, and lines that they may not (C277).
#include "mcp/json.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "mcp/canonical.h"
#include "mcp/fold.h"

namespace cordon::mcp {
namespace {

std::string refused(std::string_view line, Numbers numbers = Numbers::exact) {
  return read_line(line, numbers).refused;
}

TEST(Line, PassesWhatIsOneObject) {
  for (const std::string_view line :
       {R"({})", R"( {"a":1} )", R"({"a":[1,2,{"b":null}],"c":"\u00e9\ud83d\ude00","d":-0.5e-3})",
        "{\"a\":\"\xC3\xA9\"}", R"({"a":{"A":1},"b":{"a":2}})", R"({"a":9007199254740991})",
        R"({"":true,"x\u0000y":false}x)"}) {
    const bool fine = line.back() != 'x';
    EXPECT_EQ(refused(line).empty(), fine) << line << ": " << refused(line);
  }
}

TEST(Line, RefusesWhatReadersMayReadDifferently) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {R"([{}])", "batch"},
      {R"("a")", "object"},
      {R"({} {})", "follows"},
      {R"({"a":1,"a":2})", "twice"},
      {R"({"a":1,"\u0061":2})", "twice"},
      {R"({"name":1,"NAME":2})", "twice"},
      {"{\"name\":1,\"\xC3\x89t\":2,\"\xC3\xA9T\":3}", "twice"},  // É and é
      {"{\"params\":1,\"param\xC5\xBF\":2}", "twice"},            // long s
      {"{\"k\":1,\"\xE2\x84\xAA\":2}", "twice"},                  // the Kelvin sign
      {R"({"x":{"y":[{"a":1,"A":2}]}})", "twice"},
      {"{\"a\":\"\xC0\xAF\"}", "UTF-8"},
      {"{\"a\":\"\xED\xA0\x80\"}", "UTF-8"},
      {"\xEF\xBB\xBF{}", "object"},
      {R"({"a":"\ud800"})", "surrogate"},
      {R"({"a":"\udc00\ud800"})", "surrogate"},
      {R"({"a\u0000":1})", "NUL"},
      {"{\"a\":\"\n\"}", "JSON"},
      {R"({"a":01})", "JSON"},
      {R"({"a":+1})", "JSON"},
      {R"({"a":1.})", "JSON"},
      {R"({"a":NaN})", "JSON"},
      {R"({"a":Infinity})", "JSON"},
      {R"({"a":1e999})", "finite"},
      {R"({"a":9007199254740993})", "2^53"},
      {R"({"a":1e17})", "2^53"},
      {R"({"a":1e-400})", "round to 0"},
      {R"({"a":1e-32023456784})", "round to 0"},
      {R"({"a":0e0000001})", "round to 0"},
      {R"({"a":0e3080})", "round to 0"},
      {R"({"a":1,})", "JSON"},
      {R"({a:1})", "JSON"},
      {R"({"a":1}//)", "follows"},
      {R"({'a':1})", "JSON"},
      {R"({"a":tru})", "JSON"},
      {"", "object"},
  };
  for (const auto& [line, why] : table) {
    EXPECT_NE(refused(line).find(why), std::string::npos) << line << ": " << refused(line);
  }
  EXPECT_TRUE(refused(R"({"a":9007199254740993})", Numbers::any).empty());
}

TEST(Line, IsBoundedInDepthAndInValues) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "{\"a\":";
    return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
  };
  EXPECT_TRUE(refused(nested(kDeepestLine - 1)).empty());
  EXPECT_NE(refused(nested(kDeepestLine)).find("deeper"), std::string::npos);
  std::string many = "{\"a\":[0";
  for (std::size_t i = 0; i < kMostValues; ++i) many += ",0";
  EXPECT_NE(refused(many + "]}").find("values"), std::string::npos);
}

TEST(Line, TellsTheIdOfAnAmbiguousObjectAndItsPlaces) {
  const std::string line = R"({"id": 7, "a":1,"A":2, "p": [ 1 , "x" ]})";
  const ReadJson read = read_line(line, Numbers::exact);
  ASSERT_TRUE(read.is_whole);
  EXPECT_FALSE(read.refused.empty());
  ASSERT_NE(read.top.find("p"), nullptr);
  EXPECT_EQ(read.top.find("p")->in(line), R"([ 1 , "x" ])");
  EXPECT_EQ(read.top.find("id")->in(line), "7");
}

TEST(Line, IsReadAlikeByTwoOtherReaders) {
  for (const std::string line :
       {R"({"method":"tools/call","params":{"name":"a\/b","arguments":{"x":[1,2.5,-3e2,true]}}})",
        "{\"a\":\"\xF0\x9F\x98\x80\\ud83d\\ude00\\n\"}"}) {
    ASSERT_TRUE(refused(line).empty());
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    EXPECT_EQ(parser.parse(line).get(element), simdjson::SUCCESS);
    boost::json::error_code error;
    static_cast<void>(boost::json::parse(line, error));
    EXPECT_FALSE(error) << line;
  }
}

TEST(Canonical, IsTheSameForWhatIsSaidAlike) {
  const auto digest = [](const std::string& line) {
    const ReadJson read = read_line(line, Numbers::exact);
    return canonical_digest(&read.top, line);
  };
  EXPECT_EQ(digest(R"({"a":1,"b":"\u0041"})"), digest(R"( { "b" : "A" , "a" : 1 } )"));
  EXPECT_NE(digest(R"({"a":1})"), digest(R"({"a":"1"})"));
  EXPECT_NE(digest(R"({"a":"\u0091"})"), digest(R"({"a":"\u00c2\u0091"})"));
  const std::string empty = "{}";
  const ReadJson read = read_line(empty, Numbers::exact);
  EXPECT_EQ(canonical_digest(nullptr, {}), canonical_digest(&read.top, empty));
}

TEST(Canonical, SeesTextThatNoReaderSees) {
  const auto hidden = [](const std::string& line) {
    return has_hidden_text(read_line(line, Numbers::exact).top);
  };
  EXPECT_FALSE(hidden(R"({"d":"plain\nwith\ttabs, é and 漢字"})"));
  for (const char* const line : {R"({"d":"a\u200bb"})", R"({"d":"\u202e"})", R"({"d":"\u001b[2J"})",
                                 R"({"d":{"e":["\udb40\udc41"]}})", R"({"\u2066":1})"}) {
    EXPECT_TRUE(hidden(line)) << line;
  }
}

TEST(Fold, IsUnicodesSimpleFolding) {
  EXPECT_EQ(folded("ARGUMENTS"), "arguments");
  EXPECT_EQ(folded("\xCE\xA3\xCF\x83\xCF\x82"), "\xCF\x83\xCF\x83\xCF\x83");  // Σσς
  EXPECT_EQ(folded("\xF0\x90\x90\x80"), "\xF0\x90\x90\xA8");                  // Deseret
  EXPECT_EQ(folded("\xE6\xBC\xA2"), "\xE6\xBC\xA2");
}

}  // namespace
}  // namespace cordon::mcp
