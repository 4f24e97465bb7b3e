// SPDX-License-Identifier: Apache-2.0
#include "wire/answers.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "wire/problem_answer.h"

namespace cordon::wire {
namespace {

namespace json = boost::json;

TEST(Answers, OfASandboxSaysAllOfIt) {
  SandboxAnswer sandbox{.id = "abc",
                        .tenant = "acme",
                        .created = WallTime{std::chrono::milliseconds{1'700'000'000'123}},
                        .labels = {{"a \"quoted\" name", "b\n"}},
                        .isolation = "process"};
  sandbox.enforcement.mechanisms = {{"memory", Hold::held, "64 MiB"}};
  const auto value = json::parse(to_json(sandbox));
  EXPECT_EQ(value.at("state"), "running");
  EXPECT_EQ(value.at("created"), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(value.at("labels").at("a \"quoted\" name"), "b\n");
  EXPECT_EQ(value.at("enforcement").at(0).at("hold"), "held");
  EXPECT_FALSE(value.as_object().contains("verdict"));
}

// C191, with the next; at the API: tests/cordond/rows_node.py.
TEST(Answers, CarryEveryByteOfAProgram) {
  std::string all;
  for (int value = 0; value < 256; ++value) all += static_cast<char>(value);
  const auto raw = json::parse(output_line(false, 7, all));
  EXPECT_FALSE(raw.as_object().contains("data"));
  EXPECT_TRUE(raw.as_object().contains("data_base64"));
  EXPECT_EQ(raw.at("offset"), 7);
  // All that is text stays text, controls and characters beyond the first plane too.
  std::string text;
  for (int value = 0; value < 128; ++value) text += static_cast<char>(value);
  text += "\u0085\u00a0\u2028\u202e\ufeff\U0001F600";
  const auto plain = json::parse(output_line(true, 0, text));
  EXPECT_EQ(plain.at("event"), "stderr");
  EXPECT_EQ(plain.at("data").as_string(), text);
}

TEST(Answers, OfAStreamAreLinesOfTheirOwn) {
  for (const std::string& line : {output_line(false, 0, "a\nb\r\n"), output_end_line(true, 3),
                                  exit_line({.number = 1, .exit = ExitAnswer{.value = 2}})}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  }
}

TEST(Problem, HasAStatusForEachCode) {
  EXPECT_EQ(problem_of(Error{Errc::invalid, "x"}).status, 400);
  EXPECT_EQ(problem_of(Error{Errc::not_found, "x"}).status, 404);
  EXPECT_EQ(problem_of(Error{Errc::internal, "x"}).status, 500);
  ProblemAnswer problem = problem_of(Error{Errc::denied, "no"});
  problem.problems = {{"request", {2, 3}, "unknown key"}};
  const auto value = json::parse(to_json(problem));
  EXPECT_EQ(value.at("code"), "CORDON-API-DENIED");
  EXPECT_EQ(value.at("problems").at(0).at("where"), "request:2:3");
}

}  // namespace
}  // namespace cordon::wire
