// SPDX-License-Identifier: Apache-2.0
// One schema, two syntaxes: what is written in TOML and in JSON is the same document.
#include "policy/value.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policy/argument_schema.h"
#include "policy/presets.h"
#include "policy/random_policy_test.h"
#include "policy/shape.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

Result<Value> toml(std::string_view text) {
  Problems problems{"f"};
  return read_toml(text, problems);
}
Result<Value> json(std::string_view text) {
  Problems problems{"f"};
  return read_json(text, problems);
}

// Marks differ between the syntaxes; everything else must not.
template <class T>
void forget(Maybe<T>& value) {
  if (value) value->place = {};
}
template <class T>
void forget(std::vector<T>& list) {
  for (T& item : list) item.place = {};
}
template <class T>
void forget(Listed<T>& list) {
  if (list.place) list.place = Place{};
  forget(list.items);
}

PolicyDocument without_places(PolicyDocument d) {
  forget(d.extends);
  forget(d.isolation);
  forget(d.require);
  forget(d.filesystem.root);
  forget(d.filesystem.workspace);
  forget(d.filesystem.mode);
  forget(d.filesystem.host_mounts);
  forget(d.filesystem.hide);
  forget(d.filesystem.protect);
  forget(d.filesystem.review);
  forget(d.environment.pass);
  forget(d.environment.set);
  forget(d.process.user);
  forget(d.process.capabilities);
  forget(d.network.mode);
  forget(d.network.egress_allowlist);
  forget(d.network.egress_denylist);
  forget(d.network.ask);
  forget(d.network.ingress);
  forget(d.network.host_ports);
  for (auto* const limit :
       {&d.network.requests_per_minute, &d.network.connections, &d.network.bandwidth,
        &d.resources.milli_cpus, &d.resources.memory, &d.resources.pids, &d.resources.disk,
        &d.resources.inodes, &d.resources.open_files, &d.resources.io, &d.resources.wall_seconds,
        &d.resources.cpu_seconds, &d.resources.output, &d.resources.egress})
    forget(*limit);
  forget(d.credentials.mode);
  forget(d.credentials.secret_scanning);
  forget(d.credentials.grants);
  forget(d.profile);
  forget(d.record);
  forget(d.output.scan);
  forget(d.output.on_finding);
  forget(d.responses);
  forget(d.tools);
  for (ToolServer& server : d.tools) forget(server.rules);
  forget(d.keys);
  return d;
}

void expect_same_in_json(const std::string& text) {
  const auto tree = toml(text);
  ASSERT_TRUE(tree) << tree.error().text();
  const std::string as_json = to_json(*tree);
  const auto from_toml = parse(text, "f", Syntax::toml);
  const auto from_json = parse(as_json, "f", Syntax::json);
  ASSERT_TRUE(from_toml) << from_toml.error().text();
  ASSERT_TRUE(from_json) << from_json.error().text() << "\n" << as_json;
  EXPECT_EQ(without_places(*from_toml), without_places(*from_json)) << as_json;
  EXPECT_TRUE(tree->same(*json(as_json)));
}

TEST(Syntaxes, SayTheSameOfEveryPreset) {
  for (const Preset& preset : all_presets()) expect_same_in_json(std::string{preset.text});
}

TEST(Syntaxes, SayAndDecideTheSameOfRandomDocuments) {
  random::Dice dice{21};
  for (int i = 0; i < 300; ++i) {
    const std::string text = random::random_document(dice, random::Writer::user);
    expect_same_in_json(text);
    const auto a = check(*parse(text, "f", Syntax::toml), Origin::user, {});
    const auto b = check(*parse(to_json(*toml(text)), "f", Syntax::json), Origin::user, {});
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->settings(), b->settings());
    for (int j = 0; j < 20; ++j) {
      const auto question = random::random_question(dice, dice.below(random::kKinds));
      EXPECT_EQ(random::ask(*a, question).effect, random::ask(*b, question).effect)
          << random::to_string(question);
    }
  }
}

TEST(Syntaxes, AreToldByNameThenByTheFirstCharacter) {
  EXPECT_EQ(syntax_of("a.json", "x = 1"), Syntax::json);
  EXPECT_EQ(syntax_of("a.toml", "{}"), Syntax::toml);
  EXPECT_EQ(syntax_of("-", " \n{}"), Syntax::json);
  EXPECT_EQ(syntax_of("-", "x = 1"), Syntax::toml);
  EXPECT_EQ(syntax_of("-", ""), Syntax::toml);
}

TEST(TomlReader, KeepsTheOrderAndThePlacesOfTheFile) {
  const auto tree = toml("z = 1\na = [\"x\",\n  \"y\"]\n[t]\nk.d = true\n");
  ASSERT_TRUE(tree);
  const Value::Table& top = *tree->table();
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].key, "z");
  EXPECT_EQ(top[1].value.list()->at(1).mark, (Mark{3, 3}));
  EXPECT_EQ(top[2].mark, (Mark{4, 2}));
  EXPECT_EQ(tree->find("t")->find("k")->find("d")->mark, (Mark{5, 7}));
}

TEST(JsonReader, KeepsTheOrderAndThePlacesOfTheFile) {
  const auto tree = json("{ \"z\": 1,\n  \"a\": [\"x\",\n    \"y\"], \"t\": { \"k\": null } }");
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree->table())[0].key, "z");
  EXPECT_EQ((*tree->table())[1].mark, (Mark{2, 3}));
  EXPECT_EQ(tree->find("a")->list()->at(1).mark, (Mark{3, 5}));
  EXPECT_EQ(noun_of(*tree->find("t")->find("k")), "null");
  EXPECT_EQ(*json("{\"a\": -5, \"b\": 1.5}")->find("a")->integer(), -5);
}

TEST(Readers, TakeAByteOrderMarkAndWindowsLines) {
  EXPECT_TRUE(toml("\xEF\xBB\xBFversion = 1\r\n"));
  EXPECT_TRUE(json("{\r\n \"version\": 1 }\r\n"));
}

TEST(Readers, HoldTheirBounds) {
  const auto list = [](std::size_t count) {
    std::string text = "[1";
    for (std::size_t i = 1; i < count; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_TRUE(json("{\"a\":" + list(kMostItems) + "}"));
  EXPECT_FALSE(json("{\"a\":" + list(kMostItems + 1) + "}"));
  EXPECT_TRUE(toml("a = " + list(kMostItems)));
  EXPECT_FALSE(toml("a = " + list(kMostItems + 1)));
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  // The value of a top key is at depth 1.
  EXPECT_TRUE(json("{\"a\":" + nested(kDeepestValue) + "}"));
  EXPECT_FALSE(json("{\"a\":" + nested(kDeepestValue + 1) + "}"));
  EXPECT_TRUE(toml("a = " + nested(kDeepestValue)));
  EXPECT_FALSE(toml("a = " + nested(kDeepestValue + 1)));
  EXPECT_FALSE(json("{\"a\":" + nested(100'000) + "}"));
  EXPECT_FALSE(toml("a = " + nested(100'000)));
  const std::string text = "a = 1 #";
  EXPECT_TRUE(toml(text + std::string(kLargestDocument - text.size(), 'x')));
  EXPECT_FALSE(toml(text + std::string(kLargestDocument - text.size() + 1, 'x')));
}

TEST(JsonReader, KeepsControlCharactersOnlyWhereAskedTo) {
  Problems problems{"f"};
  const auto kept = read_json(R"({"a\t": "x\n\u0000"})", problems, Controls::kept);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept->find("a\t")->text(), (std::string{"x\n\0", 3}));
  EXPECT_FALSE(json(R"({"a": "x\n"})"));
  EXPECT_FALSE(json(R"({"a\t": 1})"));
}

TEST(Sizes, HaveOneSpelling) {
  EXPECT_EQ(size_from("0"), 0);
  EXPECT_EQ(size_from("1Ki"), 1024);
  EXPECT_EQ(size_from("3Ti"), 3LL << 40);
  EXPECT_EQ(size_from("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(size_from("8388607Ti"), 8388607LL << 40);
  for (const std::string_view bad :
       {"", "Ki", "8388608Ti", "9223372036854775808", "-1", "-0", "+1", "1K", "1KB", "1ki", "1 Ki",
        " 1", "1.0", "1e3", "0x1", "1KiKi"})
    EXPECT_FALSE(size_from(bad)) << bad;
  EXPECT_EQ(milli_cpus_from("2"), 2000);
  EXPECT_EQ(milli_cpus_from("0.5"), 500);
  EXPECT_EQ(milli_cpus_from("0.001"), 1);
  EXPECT_EQ(milli_cpus_from("1.25"), 1250);
  for (const std::string_view bad : {"", ".", "1.", ".5", "-1", "1.-5", "1.2345", "1.5.5", "1,5",
                                     "1e1", "0x1", "9223372036854775807"})
    EXPECT_FALSE(milli_cpus_from(bad)) << bad;
}

TEST(Texts, AreShownWithoutWhatCouldRepaintATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\x7f\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6z\n"), "a?[31m????z?");
  EXPECT_EQ(printable("b\xC3\xBC\xE2\x80\xA6"), "b\xC3\xBC\xE2\x80\xA6");
  EXPECT_FALSE(has_control_character("plain \xC3\xBC \xE2\x80\xA6 \xE2\x82\xAC"));
  EXPECT_TRUE(has_control_character("\xE2\x80\xA8"));
  EXPECT_TRUE(has_control_character("a\tb"));
  EXPECT_TRUE(has_control_character(std::string_view{"a\0b", 3}));
  EXPECT_LE(printable(std::string(1000, 'x')).size(), 130U);
}

}  // namespace
}  // namespace cordon::policy
