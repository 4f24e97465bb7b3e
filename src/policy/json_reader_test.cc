// SPDX-License-Identifier: Apache-2.0
// Our reader of JSON against simdjson's.
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "policy/value.h"

namespace cordon::policy {
namespace {

namespace dom = simdjson::dom;

bool same(const Value& ours, dom::element theirs);

bool same_list(const Value& ours, dom::array theirs) {
  if (ours.list() == nullptr || ours.list()->size() != theirs.size()) return false;
  std::size_t at = 0;
  for (const dom::element item : theirs) {
    if (!same((*ours.list())[at++], item)) return false;
  }
  return true;
}

bool same_table(const Value& ours, dom::object theirs) {
  if (ours.table() == nullptr || ours.table()->size() != theirs.size()) return false;
  std::size_t at = 0;
  for (const auto field : theirs) {
    const Entry& entry = (*ours.table())[at++];
    if (entry.key != field.key || !same(entry.value, field.value)) return false;
  }
  return true;
}

bool same(const Value& ours, dom::element theirs) {
  switch (theirs.type()) {
    case dom::element_type::ARRAY:
      return same_list(ours, theirs.get_array().value());
    case dom::element_type::OBJECT:
      return same_table(ours, theirs.get_object().value());
    case dom::element_type::STRING:
      return ours.text() != nullptr && *ours.text() == theirs.get_string().value();
    case dom::element_type::INT64:
      return ours.integer() != nullptr && *ours.integer() == theirs.get_int64().value();
    case dom::element_type::DOUBLE:
      return ours.number() != nullptr && *ours.number() == theirs.get_double().value();
    case dom::element_type::BOOL:
      return ours.boolean() != nullptr && *ours.boolean() == theirs.get_bool().value();
    case dom::element_type::NULL_VALUE:
      return std::holds_alternative<std::monostate>(ours.data);
    case dom::element_type::UINT64:
      return false;  // past what we take
  }
  return false;
}

// Ours refuses more, and says what.
bool is_stricter(const std::string& why) {
  for (const char* reason : {"duplicate key", "nested deeper", "does not fit", "expected an object",
                             "more than", "malformed text", "malformed key"}) {
    if (why.find(reason) != std::string::npos) return true;
  }
  return false;
}

void compare(const std::string& text, std::size_t& taken) {
  Problems problems{"f"};
  const auto ours = read_json(text, problems, Controls::kept);
  dom::parser parser;
  dom::element theirs;
  const bool theirs_took = parser.parse(text).get(theirs) == simdjson::SUCCESS;
  if (ours) {
    ++taken;
    ASSERT_TRUE(theirs_took) << text;
    ASSERT_TRUE(same(*ours, theirs)) << text;
  } else if (theirs_took) {
    ASSERT_TRUE(is_stricter(ours.error().text())) << ours.error().text() << "\n" << text;
  }
}

constexpr std::array<std::string_view, 6> kSeeds = {
    R"({"a": [1, -2, 3.5e2, true, false, null], "b": {"c": "x\n\u00e9\ud83d\ude00"}})",
    R"([{}, [], "", 0, -0, 1e-3, 9223372036854775807, -9223372036854775808])",
    R"({"extends":["strict"],"network":{"mode":"none"},"resources":{"pids_limit":12}})",
    "{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}",
    "\r\n{ \"a\"\t: [ [ [ 1.0 , 2E+5 ] ] ] }\n",
    R"({"a":1,"b":2,"c":3,"a ":4})"};

// What syntax is made of, and what it must not be.
constexpr std::string_view kPieces =
    "{}[]:,\"\\/ \t\n\r0123456789-+.eEtrufalsn\x01\x7f\xc3\xa9\xff";

std::string mutated(std::mt19937& random) {
  std::string text{kSeeds[random() % kSeeds.size()]};
  for (auto count = random() % 4; count > 0 && !text.empty(); --count) {
    const std::size_t at = random() % text.size();
    const char piece = kPieces[random() % kPieces.size()];
    switch (random() % 4) {
      case 0:
        text[at] = piece;
        break;
      case 1:
        text.insert(at, 1, piece);
        break;
      case 2:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
    }
  }
  return text;
}

TEST(JsonReader, TakesNothingThatSimdjsonRefusesAndReadsTheSame) {
  constexpr int kTexts = 40'000;
  std::mt19937 random{20261115};  // NOLINT(cert-msc51-cpp): the same texts each time
  std::size_t taken = 0;
  for (int count = 0; count < kTexts; ++count) {
    compare(mutated(random), taken);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(taken, kTexts / 8);  // else the texts say little
}

TEST(JsonReader, RefusesHalfOfAPair) {
  for (const char* text : {R"(["\ud800"])", R"(["\udc00"])", R"(["\ud800\u0041"])", R"(["\ud8"])",
                           R"(["\ud800\ud800"])", "[\"\\u", "[\"\\"}) {
    Problems problems{"f"};
    EXPECT_FALSE(read_json(text, problems, Controls::kept)) << text;
  }
}

}  // namespace
}  // namespace cordon::policy
