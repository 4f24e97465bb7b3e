// SPDX-License-Identifier: Apache-2.0
#include "fleet/cell_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fleet/index_list.h"

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
namespace cordon::fleet {
namespace {

constexpr Ticks kToldAt{std::chrono::seconds{1000}};
constexpr NodeId kOne{1, 1};
constexpr NodeId kTwo{1, 2};

std::string line(std::string_view id, std::string_view tenant = "a", std::string_view more = "") {
  return fmt::format(
      R"({{"sandbox":{{"id":"{0}","tenant":"{1}","labels":{{"job":"{0}"}},"enforcement":[{{"name":"x"}}]}},)"
      R"("e2b":{{"sandboxID":"{0}","state":"running"}}{2}}})",
      id, tenant, more);
}
std::string at(std::uint64_t seq) { return fmt::format(R"({{"at":"3 {}"}})", seq); }

// Names begin with the number of their node.
class IndexOf : public testing::Test {
 protected:
  bool took(NodeId node, const std::string& said) {
    const auto done = index_.took(node, said, kToldAt);
    return done.has_value();
  }
  std::string list(ListAsk ask) const {
    if (ask.most == 0) ask.most = 100;
    if (ask.nodes.empty()) ask.nodes = {kOne, kTwo};
    ask.may = [](const std::string&, const std::string& id) { return id != "1-hidden"; };
    std::string ids;
    const Listed listed = list_rows(index_, ask);
    for (std::size_t from = 0; (from = listed.rows.find("\"id\":\"", from)) != std::string::npos;) {
      from += 6;
      ids += listed.rows.substr(from, listed.rows.find('"', from) - from) + " ";
    }
    return ids + (listed.last.empty() ? "" : "> " + listed.last);
  }
  std::vector<std::string> settled_;
  CellIndex index_{[](std::string_view id, NodeId node) {
                     return id.starts_with(std::to_string(node.node) + "-");
                   },
                   [this](const std::string& tenant, const std::string& unit) {
                     settled_.push_back(tenant + " " + unit);
                   },
                   [this](std::string_view id, NodeId node) {
                     if (!id.starts_with("9-")) return Guest::nobody;
                     return guest_at_ == node ? Guest::known : Guest::stranger;
                   }};
  std::optional<NodeId> guest_at_;  // where names of the node 9 were moved to
};

TEST_F(IndexOf, ListsWhatWasMovedWhereItIsAndCountsItAnyhow) {
  for (const NodeId node : {kOne, kTwo}) {
    index_.begin(node);
    ASSERT_TRUE(took(node, line("9-a")));
    ASSERT_TRUE(took(node, at(1)));
  }
  EXPECT_EQ(list({}), "") << "it came to neither, as far as is known";
  EXPECT_EQ(index_.count("a"), 2U);
  guest_at_ = kTwo;
  EXPECT_EQ(list({}), "9-a ");
  EXPECT_EQ(list({.nodes = {kOne}}), "");
  EXPECT_FALSE(took(kOne, line("8-a"))) << "nobody has made that name";
  ASSERT_TRUE(took(kOne, R"({"gone":"9-a","tenant":"a"})"));
  EXPECT_EQ(index_.count("a"), 1U);
}

TEST_F(IndexOf, ListsWhatAllNodesHaveInTheOrderOfTheirNames) {
  index_.begin(kOne);
  index_.begin(kTwo);
  for (const char* const id : {"1-b", "1-a", "1-hidden"}) ASSERT_TRUE(took(kOne, line(id)));
  ASSERT_TRUE(took(kTwo, line("2-a")));
  ASSERT_TRUE(took(kTwo, line("2-x", "b")));
  EXPECT_EQ(list({}), "") << "nobody has said yet that this is all";
  ASSERT_TRUE(took(kOne, at(1)));
  ASSERT_TRUE(took(kTwo, at(1)));
  EXPECT_EQ(list({}), "1-a 1-b 2-a 2-x ");
  EXPECT_EQ(list({.tenant = "a"}), "1-a 1-b 2-a ");
  EXPECT_EQ(list({.nodes = {kTwo}}), "2-a 2-x ");
  EXPECT_EQ(list({.labels = {{"job", "1-b"}}}), "1-b ");
  EXPECT_EQ(list({.labels = {{"job", "none"}}}), "");
  EXPECT_EQ(list({.most = 2}), "1-a 1-b > 1-b");
  EXPECT_EQ(list({.after = "1-b", .most = 2}), "2-a 2-x ") << "exactly as many as there are";
}

TEST_F(IndexOf, ANodeThatTellsMoreThanAnyHasIsNotReadOn) {
  const auto whole = [](std::string_view, NodeId) { return true; };
  CellIndex few{whole, [](const auto&, const auto&) {}, {.rows = 2, .bytes = 1U << 20U}};
  few.begin(kOne);
  ASSERT_TRUE(few.took(kOne, line("1-a"), kToldAt));
  ASSERT_TRUE(few.took(kOne, line("1-b"), kToldAt));
  ASSERT_TRUE(few.took(kOne, line("1-b"), kToldAt)) << "in place of itself";
  const auto refused = few.took(kOne, line("1-c"), kToldAt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::invalid);
  few.begin(kOne);
  ASSERT_TRUE(few.took(kOne, line("1-c"), kToldAt)) << "anew";
  ASSERT_TRUE(few.took(kOne, at(1), kToldAt));
  ASSERT_TRUE(few.took(kOne, line("1-d"), kToldAt));
  EXPECT_FALSE(few.took(kOne, line("1-e"), kToldAt)) << "also of what comes later";
  ASSERT_TRUE(few.took(kOne, R"({"gone":"1-c","tenant":"a"})", kToldAt));
  EXPECT_TRUE(few.took(kOne, line("1-e"), kToldAt));

  CellIndex small{whole, [](const auto&, const auto&) {}, {.rows = 1000, .bytes = 100'000}};
  small.begin(kOne);
  std::size_t rows = 0;
  const std::string long_text = fmt::format(R"(,"long":"{}")", std::string(1000, 'x'));
  while (rows < 1000 &&
         small.took(kOne,
                    fmt::format(R"({{"sandbox":{{"id":"1-{}","tenant":"a"{}}}}})", rows, long_text),
                    kToldAt))
    ++rows;
  EXPECT_GT(rows, 20U);
  EXPECT_LT(rows, 100U);
}

// What docs/fleet.md says of a node whose tenants have as long labels as they can.
TEST_F(IndexOf, HasRoomForANineteenthOfNineteenHundredLongRows) {
  constexpr std::size_t kBytes = (std::size_t{64} << 20U) / 19;
  CellIndex part{[](std::string_view, NodeId) { return true; },
                 [](const auto&, const auto&) {},
                 {.rows = 1000, .bytes = kBytes}};
  std::string labels;
  for (int number = 0; number < 64; ++number) {
    std::string value;
    for (int quote = 0; quote < 32; ++quote) value += R"(\")";
    labels += fmt::format(R"({}"{:032}":"{}")", number == 0 ? "" : ",", number, value);
  }
  const std::string enforcement(std::size_t{3} << 10U, 'x');
  part.begin(kOne);
  for (int number = 0; number < 100; ++number) {
    const std::string row = fmt::format(
        R"({{"sandbox":{{"id":"1-{0}","tenant":"a","labels":{{{1}}},"enforcement":["{2}"]}},)"
        R"("e2b":{{"sandboxID":"1-{0}","state":"running","metadata":{{{1}}}}}}})",
        number, labels, enforcement);
    ASSERT_TRUE(part.took(kOne, row, kToldAt)) << number;
  }
}

TEST_F(IndexOf, ARowOfE2bIsOfTheSameSandbox) {
  index_.begin(kOne);
  ASSERT_TRUE(took(kOne, R"({"sandbox":{"id":"1-a","tenant":"a"},"e2b":{"sandboxID":"1-a"}})"));
  EXPECT_FALSE(took(kOne, R"({"sandbox":{"id":"1-b","tenant":"a"},"e2b":{"sandboxID":"2-b"}})"));
}

TEST_F(IndexOf, APageIsBoundedInBytesToo) {
  index_.begin(kOne);
  const std::string half(std::size_t{200} << 10U, 'x');
  for (int i = 100; i < 200; ++i) {
    ASSERT_TRUE(took(
        kOne, fmt::format(R"({{"sandbox":{{"id":"1-{}","tenant":"a","long":"{}"}}}})", i, half)));
  }
  ASSERT_TRUE(took(kOne, at(1)));
  const Listed listed = list_rows(
      index_, {.nodes = {kOne}, .may = [](const auto&, const auto&) { return true; }, .most = 100});
  EXPECT_LE(listed.rows.size(), kLargestList);
  EXPECT_EQ(listed.last, "1-175");
}

TEST_F(IndexOf, WhatIsAlikeIsKeptOnceAndShownWithEach) {
  index_.begin(kOne);
  took(kOne, line("1-a"));
  took(kOne, line("1-b"));
  took(kOne, at(1));
  EXPECT_EQ(index_.rows(kOne)->at("1-a").shared, index_.rows(kOne)->at("1-b").shared);
  const Listed listed = list_rows(
      index_, {.nodes = {kOne}, .may = [](const auto&, const auto&) { return true; }, .most = 1});
  EXPECT_NE(listed.rows.find(R"(,"enforcement":[{"name":"x"}]})"), std::string::npos)
      << listed.rows;
}

TEST_F(IndexOf, TellsOfE2bsWhatTheirListsHave) {
  index_.begin(kOne);
  took(kOne, line("1-a"));
  took(kOne, R"({"sandbox":{"id":"1-built","tenant":"a"},"build":true})");
  took(kOne, R"({"sandbox":{"id":"1-p","tenant":"a"},"e2b":{"sandboxID":"1-p","state":"paused"}})");
  took(kOne, at(1));
  ListAsk ask{.nodes = {kOne}, .may = [](const auto&, const auto&) { return true; }, .most = 9};
  EXPECT_EQ(list_e2b_rows(index_, ask).rows,
            R"({"sandboxID":"1-a","state":"running"},{"sandboxID":"1-p","state":"paused"})");
  ask.states = "paused";
  EXPECT_EQ(list_e2b_rows(index_, ask).rows, R"({"sandboxID":"1-p","state":"paused"})");
  EXPECT_EQ(list({}), "1-a 1-built 1-p ");
}

TEST_F(IndexOf, HasWhatWasSaidByThenAndNoMore) {
  EXPECT_FALSE(index_.has(kOne, {}));
  index_.begin(kOne);
  EXPECT_FALSE(index_.has(kOne, {}));
  took(kOne, at(5));
  EXPECT_TRUE(index_.has(kOne, {.epoch = 3, .seq = 5}));
  EXPECT_TRUE(index_.has(kOne, {.epoch = 2, .seq = 90})) << "of an earlier start";
  EXPECT_FALSE(index_.has(kOne, {.epoch = 3, .seq = 6}));
  index_.broke_off(kOne);
  EXPECT_FALSE(index_.has(kOne, {.epoch = 3, .seq = 5}));
}

TEST_F(IndexOf, CountsWhatWasToldUntilItIsToldAnewOrTheNodeIsDead) {
  index_.begin(kOne);
  took(kOne, line("1-a"));
  took(kOne, R"({"id":"1-run","tenant":"a"})");
  took(kOne, R"({"id":"1-built","tenant":"a","build":true})");
  EXPECT_EQ(index_.count("a"), 0U);
  took(kOne, at(1));
  EXPECT_EQ(index_.count("a"), 2U) << "what is built for a template does not count";
  took(kOne, line("1-run"));
  EXPECT_EQ(index_.count("a"), 2U) << "the same one";
  took(kOne, R"({"gone":"1-run","tenant":"a"})");
  EXPECT_EQ(index_.count("a"), 1U);
  index_.broke_off(kOne);
  EXPECT_EQ(index_.count("a"), 1U) << "it lives on, as far as anybody knows";
  index_.begin(kOne);
  took(kOne, line("1-b"));
  EXPECT_EQ(index_.count("a"), 1U);
  took(kOne, line("1-c"));
  took(kOne, at(9));
  EXPECT_EQ(index_.count("a"), 2U);
  index_.forget(kOne);
  EXPECT_EQ(index_.count("a"), 0U);
}

TEST_F(IndexOf, SettlesWhatAllowedASandboxWhenThatIsCounted) {
  index_.begin(kOne);
  took(kOne, line("1-a", "a", R"(,"unit":"7 1 9")"));
  EXPECT_TRUE(settled_.empty()) << "not counted before all was said";
  took(kOne, at(1));
  took(kOne, R"({"id":"1-b","tenant":"a","unit":"7 2 9"})");
  took(kOne, R"({"gone":"1-c","tenant":"a","unit":"7 3 9"})");
  EXPECT_EQ(settled_, (std::vector<std::string>{"a 7 1 9", "a 7 2 9", "a 7 3 9"}));
  EXPECT_EQ(index_.count("a"), 2U);
}

TEST_F(IndexOf, TakesNothingThatNoNodeSays) {
  EXPECT_FALSE(took(kOne, at(1))) << "who has not begun";
  index_.begin(kOne);
  EXPECT_TRUE(took(kOne, line("1-a")));
  for (const std::string& said :
       {std::string{"x"}, std::string{"[]"}, std::string{"{}"}, line("2-a"),
        std::string{R"({"gone":"2-a"})"}, std::string{R"({"id":"1-a"})"},
        std::string{R"({"at":"3"})"}, std::string{R"({"at":"3 x"})"},
        std::string{R"({"sandbox":1})"}}) {
    EXPECT_FALSE(took(kOne, said)) << said;
  }
}

TEST(NodeMarks, AreTheSameAfterTheyWereWrittenDown) {
  const std::vector<NodeMark> marks{{kOne, {3, 17}}, {kTwo, {1, 0}}};
  EXPECT_EQ(to_text(marks), "1:3.17 2:1.0");
  EXPECT_EQ(*read_marks(to_text(marks), 1), marks);
  EXPECT_TRUE(read_marks("", 1)->empty());
  for (const std::string_view text : {"1", "1:", "1:2", "1:2.", "1:2.3,4:5.6", "x:1.2", " 1:2.3"}) {
    EXPECT_FALSE(read_marks(text, 1)) << text;
  }
}

}  // namespace
}  // namespace cordon::fleet
// NOLINTEND(bugprone-unchecked-optional-access)
