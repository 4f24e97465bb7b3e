// SPDX-License-Identifier: Apache-2.0
// Explanations of whole policies, and the published schema, against the files that hold them.
#include "base/golden_test.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "policy/checked.h"
#include "policy/describe.h"
#include "policy/json_schema.h"
#include "policy/keys.h"
#include "policy/parse.h"
#include "policy/policy.h"
#include "policy/presets.h"

namespace cordon::policy {
namespace {

// What the machine that runs the test has configured must not show.
const Registries kRegistries = {{"@npm", {{"packages.example", 443}}}};

std::string explained(const std::string& name, Origin origin) {
  const auto slash = name.rfind('/');
  const std::string text = read_source(name);
  auto document = parse(text, name.substr(slash + 1), syntax_of(name, text));
  EXPECT_TRUE(document) << document.error().text();
  if (!document) return {};
  const auto policy = check(*std::move(document), origin, kRegistries);
  EXPECT_TRUE(policy) << policy.error().text();
  return policy ? to_text(describe(*policy->documents().back())) : std::string{};
}

TEST(Explanation, OfTheJsonDocumentIsAsReviewed) {
  expect_golden("tests/policy/golden/service.json.txt",
                explained("examples/service.json", Origin::request));
}

TEST(Explanation, OfTheWholeVocabularyIsAsReviewed) {
  expect_golden("tests/policy/golden/everything.toml.txt",
                explained("examples/everything.toml", Origin::user));
}

TEST(Explanation, OfATypicalPolicyIsAsReviewed) {
  expect_golden("tests/policy/golden/agent.toml.txt",
                explained("examples/agent.toml", Origin::user));
}

TEST(Explanation, OfAPolicyForAServerOfToolsIsAsReviewed) {
  expect_golden("tests/policy/golden/files-server.toml.txt",
                explained("examples/files-server.toml", Origin::user));
}

TEST(Explanation, OfEachPresetIsAsReviewed) {
  for (const Preset& preset : all_presets()) {
    auto document = parse(preset.text, "preset:" + std::string{preset.name}, Syntax::toml);
    ASSERT_TRUE(document);
    const auto policy = check(*std::move(document), Origin::builtin, kRegistries);
    ASSERT_TRUE(policy);
    expect_golden("tests/policy/golden/preset-" + std::string{preset.name} + ".txt",
                  to_text(describe(*policy->documents().back())));
  }
}

// The example states every key of the vocabulary: a new key must be added to it.
TEST(Example, OfTheWholeVocabularyNamesEveryKey) {
  const std::string text = read_source("examples/everything.toml");
  for (const Key& key : all_keys()) {
    if (key.path == "$schema") continue;  // JSON's alone
    EXPECT_NE(text.find(name_of(key)), std::string::npos) << key.path;
  }
}

TEST(Schema, IsThePublishedOne) { expect_golden("docs/policy.schema.json", json_schema()); }

// Walks the published file by itself, so that a fault of the generator cannot hide.
const boost::json::value* find_in_schema(const boost::json::value& schema, std::string_view path) {
  const boost::json::value* at = &schema;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    const bool item = part.ends_with("[]");
    if (item) part.remove_suffix(2);
    if (part == "*") {
      at = &at->at("additionalProperties");
    } else {
      const auto* const properties = at->as_object().if_contains("properties");
      if (properties == nullptr) return nullptr;
      at = properties->as_object().if_contains(part);
      if (at == nullptr) return nullptr;
    }
    if (item) at = &at->at("items");
    if (item && at->as_object().contains("anyOf")) at = &at->at("anyOf").at(1);
  }
  return at;
}

std::size_t count_properties(const boost::json::value& value) {
  std::size_t count = 0;
  if (value.is_array()) {
    for (const auto& item : value.as_array()) count += count_properties(item);
  } else if (value.is_object()) {
    for (const auto& member : value.as_object()) {
      if (member.key() == "properties") count += member.value().as_object().size();
      count += count_properties(member.value());
    }
  }
  return count;
}

TEST(Schema, HasEveryKeyOfTheParserAndNoOther) {
  const boost::json::value schema = boost::json::parse(read_source("docs/policy.schema.json"));
  for (const Key& key : all_keys())
    EXPECT_NE(find_in_schema(schema, key.path), nullptr) << key.path;
  EXPECT_EQ(count_properties(schema), all_keys().size());
}

TEST(Keys, AreEachStatedInTheDocs) {
  const std::string docs = read_source("docs/policy.md");
  for (const Key& key : all_keys()) {
    EXPECT_NE(docs.find(std::string{"`"} + std::string{key.path} + "`"), std::string::npos)
        << key.path;
  }
}

}  // namespace
}  // namespace cordon::policy
