// SPDX-License-Identifier: Apache-2.0
#include "cli/node_words.h"

#include <sstream>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "cli/exec_words.h"
#include "cli/node_label.h"
#include "cli/promises.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::sys_seconds kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 16}};

TEST(NodeWords, ARefusalSaysWhatWasTriedEveryReasonAndWhatToDoNext) {
  const NodeAnswer answer = read_answer(400, R"({"status":400,"code":"CORDON-API-INVALID",
    "detail":"the request is wrong","remedy":"mend it",
    "problems":[{"where":"request:1:9","message":"unknown key `comand`"}],
    "denials":[{"code":"CORDON-PLAN-KEY","tried":"monitor.record","rule":"request:2","why":"nothing holds it"}]})");
  EXPECT_EQ(words_of_refusal(answer),
            "cordon: the request is wrong   CORDON-API-INVALID\n"
            "  at    request:1:9  unknown key `comand`\n"
            "  next  mend it\n"
            "cordon: refused monitor.record   CORDON-PLAN-KEY\n"
            "  why   nothing holds it (request:2)\n");
}

TEST(NodeWords, NothingThatANodeSaysSteersTheTerminal) {
  const NodeAnswer answer =
      read_answer(404, R"({"code":"C","detail":"a\u001b[2Jb\ncordon: all is well"})");
  const std::string words = words_of_refusal(answer);
  EXPECT_EQ(words.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(words, '\n'), 1);
}

TEST(NodeWords, WhatIsNoNodeIsToldApart) {
  const NodeAnswer answer = read_answer(200, "<html>hello</html>");
  EXPECT_FALSE(answer.is_good());
  EXPECT_NE(words_of_refusal(answer).find("speaks no API v1"), std::string::npos);
  EXPECT_TRUE(read_answer(204, "").is_good());
}

TEST(NodeWords, ExitCodesAreStable) {
  for (const auto& [status, exit] :
       {std::pair{400, 1}, {401, 1}, {403, 1}, {404, 4}, {409, 1}, {429, 5}, {503, 5}, {500, 70}}) {
    EXPECT_EQ(static_cast<int>(exit_of_status(status)), exit) << status;
  }
  EXPECT_EQ(static_cast<int>(start_exit_of_status(403)), 126);
  EXPECT_EQ(static_cast<int>(start_exit_of_status(404)), 125);
}

TEST(NodeWords, WithJsonTheProblemGoesToStandardOutputToo) {
  std::ostringstream out;
  std::ostringstream err;
  Context context{.out = out, .err = err, .environment = {}};
  const std::string body = R"({"code":"C","detail":"no","status":403})";
  refuse(context, {.json = true}, read_answer(403, body));
  EXPECT_EQ(out.str(), body + "\n");
  EXPECT_EQ(err.str(), "cordon: no   C\n");
  EXPECT_EQ(context.exit, Exit::no);
}

TEST(NodeWords, SandboxesAreATable) {
  const auto sandboxes = json::parse(R"([{"id":"abc","tenant":"t","state":"running",
    "created":"2026-11-15T23:59:00.123Z","expires":"2026-11-16T00:10:00.000Z","labels":{"a":"1","b":"\u001b"}}])");
  EXPECT_EQ(sandboxes_text(sandboxes.get_array(), kNow),
            "SANDBOX   TENANT   STATE     CREATED    EXPIRES     LABELS\n"
            "abc       t        running   60 s ago   in 10 min   a=1 b=\\x1b\n");
}

TEST(NodeWords, ProcessesAreATable) {
  const auto processes = json::parse(R"([
    {"process":1,"command":"sh","state":"exited","pid":7,"exit":{"code":3},"stdout_bytes":5,"stderr_bytes":0},
    {"process":2,"command":"no","state":"failed","failure":"exec: none","stdout_bytes":0,"stderr_bytes":0},
    {"process":3,"command":"cat","state":"exited","pid":9,"exit":{"signal":9},"stdout_bytes":0,"stderr_bytes":1}])");
  EXPECT_EQ(processes_text(processes.get_array()),
            "PROCESS   PID   STATE    END          STDOUT   STDERR   COMMAND\n"
            "1         7     exited   exit 3       5        0        sh\n"
            "2         -     failed   exec: none   0        0        no\n"
            "3         9     exited   signal 9     0        1        cat\n");
}

TEST(NodeWords, TimesAreReadOrNot) {
  EXPECT_EQ(read_time("2026-11-16T00:00:00.000Z"), kNow);
  for (const char* text : {"", "2026-11-16", "2026-13-16T00:00:00Z", "2026-11-16 00:00:00", "now"})
    EXPECT_EQ(read_time(text), std::nullopt) << text;
}

TEST(NodeLabel, IsANameAndAValue) {
  EXPECT_EQ(*read_label("a=b=c"), (Label{"a", "b=c"}));
  EXPECT_EQ(*read_label("a="), (Label{"a", ""}));
  EXPECT_FALSE(read_label("a"));
  EXPECT_FALSE(read_label("=a"));
}

TEST(ExecWords, TheCodeIsThatOfTheProcessOrSaysWhyThereIsNone) {
  EXPECT_EQ(code_of_exit(json::parse(R"({"exit":{"code":7}})")), 7);
  EXPECT_EQ(code_of_exit(json::parse(R"({"exit":{"signal":15}})")), 143);
  EXPECT_EQ(code_of_exit(json::parse("{}")), 125);
  EXPECT_EQ(code_of_failure("exec: No such file or directory"), 127);
  EXPECT_EQ(code_of_failure("exec: Permission denied"), 126);
}

TEST(ExecWords, ASandboxThatEndedSaysWhy) {
  const auto end = [](const char* ending) {
    return read_sandbox_end(json::parse(
        std::string{R"({"verdict":{"explanation":"because","ending":")"} + ending + "\"}}"));
  };
  EXPECT_EQ(end("wall_time").code, 124);
  EXPECT_EQ(end("killed").code, 137);
  EXPECT_EQ(end("memory").code, 137);
  EXPECT_EQ(end("infrastructure").code, 125);
  EXPECT_EQ(end("killed").words, "because");
  EXPECT_EQ(read_sandbox_end(json::parse("{}")).code, 125);
}

TEST(Promises, SayAlsoWhatIsNotPromised) {
  const std::string text = promises_text("process");
  EXPECT_NE(text.find("not promised  a bug in the part of the kernel"), std::string::npos);
  EXPECT_NE(text.find("no isolation promises that"), std::string::npos);
  EXPECT_TRUE(promises_json("of another version").at("promised").as_array().empty());
}

TEST(NodeQuery, EscapesWhatWouldMeanSomethingElse) {
  EXPECT_EQ(escaped_for_query("a b&c=d+e%f/g"), "a%20b%26c%3Dd%2Be%25f/g");
}

TEST(NodePaths, AreMadeOfIdsOnly) {
  EXPECT_EQ(*sandbox_path("abc234", "/processes"), "/v1/sandboxes/abc234/processes");
  for (const char* id : {"", "..", "a/b", "A", "a%2fb", "abc?x=1"})
    EXPECT_FALSE(sandbox_path(id, "")) << id;
}

}  // namespace
}  // namespace cordon::cli
