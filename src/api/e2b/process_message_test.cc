// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/process_message.h"

#include <csignal>

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

TEST(E2bProcess, IsStartedAsItsClientSays) {
  const auto start = read_start(
      R"({"process":{"cmd":"/bin/bash","args":["-l","-c","echo\nhi"],"envs":{"A":"1"},"cwd":"/tmp"},"stdin":false})");
  ASSERT_TRUE(start) << start.error().text();
  EXPECT_EQ(start->config, (ProcessConfig{.command = "/bin/bash",
                                          .arguments = {"-l", "-c", "echo\nhi"},
                                          .variables = {{"A", "1"}},
                                          .directory = "/tmp"}));
  EXPECT_FALSE(start->has_input);
  EXPECT_FALSE(start->terminal);
}

TEST(E2bProcess, HasInputAndATerminalAsItIsWanted) {
  const auto start =
      read_start(R"({"process":{"cmd":"a"},"pty":{"size":{"cols":100,"rows":30}},"tag":"t"})");
  ASSERT_TRUE(start);
  EXPECT_TRUE(start->has_input);
  EXPECT_EQ(start->terminal, (TerminalWanted{.columns = 100, .rows = 30}));
  EXPECT_EQ(start->tag, "t");
}

TEST(E2bProcess, IsNotStartedOutOfBounds) {
  for (const char* json : {"{}", R"({"process":{}})", R"({"process":{"cmd":""}})",
                           R"({"process":{"cmd":"a","args":["b\u0000"]}})",
                           R"({"process":{"cmd":"a","envs":{"":"1"}}})",
                           R"({"process":{"cmd":"a","envs":{"A=":"1"}}})",
                           R"({"process":{"cmd":"a"},"pty":{"size":{"cols":0}}})",
                           R"({"process":{"cmd":"a"},"pty":{"size":{"rows":70000}}})"}) {
    EXPECT_FALSE(read_start(json)) << json;
  }
}

Message message(std::string_view json) {
  auto read = Message::read(json);
  EXPECT_TRUE(read);
  return *std::move(read);
}

TEST(E2bProcess, IsMeantByPidOrTag) {
  EXPECT_EQ(*read_selector(message(R"({"process":{"pid":7}})")), Selector{7U});
  EXPECT_EQ(*read_selector(message(R"({"process":{"tag":"t"}})")), Selector{std::string{"t"}});
  for (const char* json : {"{}", R"({"process":{}})", R"({"process":{"pid":-1}})"}) {
    EXPECT_FALSE(read_selector(message(json))) << json;
  }
}

TEST(E2bProcess, GetsTwoSignals) {
  EXPECT_EQ(*read_signal(message(R"({"signal":"SIGNAL_SIGKILL"})")), SIGKILL);
  EXPECT_EQ(*read_signal(message(R"({"signal":15})")), SIGTERM);
  for (const char* json : {"{}", R"({"signal":"SIGNAL_SIGSTOP"})", R"({"signal":19})"}) {
    EXPECT_FALSE(read_signal(message(json))) << json;
  }
}

TEST(E2bProcess, IsToldOf) {
  EXPECT_EQ(start_event(7), R"({"event":{"start":{"pid":7}}})");
  EXPECT_EQ(data_event("stdout", "hi\n"), R"({"event":{"data":{"stdout":"aGkK"}}})");
  EXPECT_EQ(keepalive_event(), R"({"event":{"keepalive":{}}})");
  EXPECT_EQ(end_event({}),
            R"({"event":{"end":{"exitCode":0,"exited":true,"status":"exit status 0"}}})");
  EXPECT_EQ(
      end_event({.value = 3}),
      R"({"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3","error":"exit status 3"}}})");
  EXPECT_EQ(
      end_event({.by_signal = true, .value = SIGKILL}),
      R"({"event":{"end":{"exitCode":-1,"exited":false,"status":"signal: killed","error":"signal: killed"}}})");
  EXPECT_EQ(to_json(std::vector<ListedProcess>{
                {.config = {.command = "a", .arguments = {"b"}}, .pid = 4, .tag = ""}}),
            R"({"processes":[{"config":{"cmd":"a","args":["b"],"envs":{}},"pid":4}]})");
}

}  // namespace
}  // namespace cordon::api::e2b
