// SPDX-License-Identifier: Apache-2.0
// A request is understood whole, or refused with the line and what would be right.
#include "wire/requests.h"

#include <gtest/gtest.h>

namespace cordon::wire {
namespace {

// Everything that is wrong with POST /v1/run, a line each.
std::string wrong(std::string_view text) {
  policy::Problems problems{"request"};
  const auto request = read_run_request(text, problems);
  std::string all;
  for (const auto& problem : problems.all()) all += to_string(problem) + "\n";
  if (all.empty()) return request ? "" : request.error().text();
  all.pop_back();
  return all;
}

TEST(RunRequest, IsReadWhole) {
  policy::Problems problems{"request"};
  const auto request = read_run_request(R"({
    "command": ["sh", "-c", "cat\n", ""],
    "environment": {"A": "b", "EMPTY": ""},
    "directory": "/workspace/src",
    "input": "one\ntwo\n",
    "labels": {"job": "7"},
    "timeout_seconds": 60,
    "policy": {"resources": {"memory_limit": "64Mi"}}
  })",
                                        problems);
  ASSERT_TRUE(request) << request.error().text();
  EXPECT_EQ(request->start, (StartRequest{.command = {"sh", "-c", "cat\n", ""},
                                          .environment = {{"A", "b"}, {"EMPTY", ""}},
                                          .directory = "/workspace/src",
                                          .input = "one\ntwo\n"}));
  EXPECT_EQ(request->create.labels, (std::map<std::string, std::string>{{"job", "7"}}));
  EXPECT_EQ(request->create.timeout_seconds, 60U);
  const auto& memory = request->create.policy.resources.memory;
  EXPECT_EQ(memory.value_or(policy::Stated<std::uint64_t>{}).value, std::uint64_t{64} << 20U);
}

TEST(RunRequest, NeedsNothingButACommand) { EXPECT_EQ(wrong(R"({"command": ["true"]})"), ""); }

TEST(CreateRequest, HasNoCommandAndAStartNoPolicy) {
  policy::Problems problems{"request"};
  EXPECT_TRUE(read_create_request("{}", problems));
  EXPECT_FALSE(read_create_request(R"({"command": ["true"]})", problems));
  policy::Problems others{"request"};
  EXPECT_TRUE(read_start_request(R"({"command": ["true"]})", others));
  EXPECT_FALSE(read_start_request(R"({"command": ["true"], "policy": {}})", others));
}

TEST(StartRequest, MayAskForATerminal) {
  policy::Problems problems{"request"};
  const auto sized =
      read_start_request(R"({"command": ["sh"], "pty": {"rows": 5, "cols": 7}})", problems);
  ASSERT_TRUE(sized) << sized.error().text();
  EXPECT_EQ(sized->terminal, (TerminalSize{5, 7}));
  const auto usual = read_start_request(R"({"command": ["sh"], "pty": {}})", problems);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->terminal, (TerminalSize{24, 80}));
  for (const char* text :
       {R"({"command": ["sh"], "pty": {"rows": 0}})", R"({"command": ["sh"], "pty": true})",
        R"({"command": ["sh"], "pty": {"columns": 80}})",
        R"({"command": ["sh"], "pty": {"cols": 4097}})"}) {
    policy::Problems found{"request"};
    EXPECT_FALSE(read_start_request(text, found)) << text;
  }
  EXPECT_NE(wrong(R"({"command": ["sh"], "pty": {}})"), "");
}

struct Wrong {
  const char* name;
  std::string text;
  const char* said;
};
class RunRequestRefuses : public testing::TestWithParam<Wrong> {};

TEST_P(RunRequestRefuses, OneWith) { EXPECT_EQ(wrong(GetParam().text), GetParam().said); }

std::string many_labels() {
  std::string all = R"({"command": ["a"], "labels": {"0":"")";
  for (int i = 1; i <= 64; ++i) all += ",\"" + std::to_string(i) + "\":\"\"";
  return all + "}}";
}

// 32 of 127 bytes each, and one whose value is `last`.
std::string long_labels(const std::string& last) {
  std::string all = R"({"command": ["a"], "labels": {)";
  for (int i = 10; i < 42; ++i) {
    all += '"' + std::to_string(i) + R"(":")" + std::string(125, 'x') + "\",";
  }
  return all + R"("last":")" + last + "\"}}";
}

TEST(RunRequest, TakesSoManyBytesOfLabels) {
  EXPECT_EQ(wrong(long_labels(std::string(28, 'x'))), "");
}

const Wrong kWrong[] = {
    {"NoCommand", "{}", "request:1:1: `command` is missing: a list of texts, the program first"},
    {"AShellsLine", R"({"command": "ls -l"})",
     "request:1:13: `command`: expected a list of texts, the program first, found a text; write "
     "[\"sh\", \"-c\", \"…\"] for a shell's line"},
    {"AnEmptyProgram", R"({"command": [""]})",
     "request:1:14: `command`: an argument is a text of at most 131072 bytes without the character "
     "0, and the program is not empty"},
    {"ANumberForAnArgument", R"({"command": ["a", 1]})",
     "request:1:19: `command`: an argument is a text of at most 131072 bytes without the character "
     "0, and the program is not empty"},
    {"AnArgumentThatEndsEarly", R"({"command": ["a", "b\u0000c"]})",
     "request:1:19: `command`: an argument is a text of at most 131072 bytes without the character "
     "0, and the program is not empty"},
    {"AVariableThatIsTwo", R"({"command": ["a"], "environment": {"A=B": "c"}})",
     "request:1:36: `environment`: `A=B`: a variable has a name without `=`, spaces and control "
     "characters, and a value without the character 0"},
    {"ARelativeDirectory", R"({"command": ["a"], "directory": "src"})",
     "request:1:33: `directory`: `src` is no absolute path"},
    {"AKeyTwice", R"({"command": ["a"], "command": ["b"]})",
     "request:1:20: JSON: duplicate key `command`"},
    {"AKeyThatIsMistyped", R"({"comand": ["a"]})",
     "request:1:2: unknown key `comand` in the document; did you mean `command`?"},
    {"APolicyWithAMistake", R"({"command": ["a"], "policy": {"filesystem": {"hid": []}}})",
     "request:1:46: unknown key `hid` in [filesystem]; did you mean `hide`?"},
    {"ControlsInAPolicy", R"({"command": ["a"], "policy": {"filesystem": {"hide": ["a\u001b"]}}})",
     "request:1:55: control characters are not allowed in a text"},
    {"ALifeWithoutEnd", R"({"command": ["a"], "timeout_seconds": 2592001})",
     "request:1:39: `timeout_seconds`: 2592001 is out of range; allowed are 1 to 2592000"},
    {"TooManyLabels", many_labels(), "request:1:30: `labels`: 65 of them, at most 64 are taken"},
    {"LabelsOfTooManyBytes", long_labels(std::string(29, 'x')),
     "request:1:30: `labels`: 4097 bytes of names and values, at most 4096 are taken"},
    {"NoObject", "[]", "request:1:1: expected a table of keys, found a list"},
};
INSTANTIATE_TEST_SUITE_P(Body, RunRequestRefuses, testing::ValuesIn(kWrong),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST(ChangeRequest, TellsAPolicyThatIsAbsentFromAnEmptyOne) {
  policy::Problems problems{"request"};
  const auto none = read_change_request(R"({"timeout_seconds": 5})", problems);
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_FALSE(none->policy);
  const auto empty = read_change_request(R"({"policy": {}})", problems);
  ASSERT_TRUE(empty) << empty.error().text();
  const auto& policy = empty->policy;
  EXPECT_TRUE(policy && policy->keys.empty());
  EXPECT_FALSE(read_change_request(R"({"policy": {"network": {"modus": "none"}}})", problems));
}

}  // namespace
}  // namespace cordon::wire
