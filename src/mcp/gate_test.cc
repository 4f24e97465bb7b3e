// SPDX-License-Identifier: Apache-2.0
// What passes the gate as it came, what is answered instead, and who never hears of it.
#include "mcp/gate.h"

#include <gtest/gtest.h>

#include "mcp/tool_policy.h"
#include "policy/policy_text_test.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kRules = R"([tools.fs]
allow = ["read_*", "echo"]
deny = ["delete_*"]
[[tools.fs.rules]]
tool = "write_file"
effect = "ask"
why = "it changes the tree"
[[tools.fs.rules]]
tool = "search"
effect = "allow"
arguments = { type = "object", properties = { in = { const = "docs" } }, required = ["in"], additionalProperties = false }
calls_per_minute = 2
)";

// What a client and a server see of each other.
class Link {
 public:
  explicit Link(Setup setup = {}, std::string_view rules = kRules)
      : gate_{filled(std::move(setup)), policy_of_rules(rules)} {}

  void client(const std::string& line) { take(gate_.from_client(line + "\n", now)); }
  void server(const std::string& line) { take(gate_.from_server(line + "\n", now)); }

  std::string take_client() { return std::exchange(to_client_, {}); }
  std::string take_server() { return std::exchange(to_server_, {}); }

  Ticks now{};
  std::vector<Called> called;
  std::vector<Refused> refused;
  std::vector<Sighted> sighted;
  std::string broken;
  bool sight_over = false;

  static Setup filled(Setup setup) {
    setup.server = "fs";
    setup.sandbox = "s1";
    setup.key = "k";
    setup.accept = "accept it";
    if (setup.longest_line == 0) setup.longest_line = 1 << 16;
    return setup;
  }
  // By the way it goes to the filter.
  static policy::Policy policy_of_rules(std::string_view rules) {
    const policy::Policy whole = policy::policy_from(std::string{rules});
    return *policy_of(tool_documents_of(whole, "fs"));
  }

 private:
  void take(const std::vector<FromFilter>& acts) {
    for (const FromFilter& act : acts) {
      // What goes over the pipe is what comes out of it.
      const auto bytes = encode(act);
      const auto read = decode_from_filter(std::span{bytes}.subspan(4));
      ASSERT_TRUE(read) << read.error().text();
      ASSERT_EQ(*read, act);
      if (const auto* client = std::get_if<ToClient>(&act)) to_client_ += client->bytes;
      if (const auto* server = std::get_if<ToServer>(&act)) to_server_ += server->bytes;
      if (const auto* call = std::get_if<Called>(&act)) called.push_back(*call);
      if (const auto* no = std::get_if<Refused>(&act)) refused.push_back(*no);
      if (const auto* sight = std::get_if<Sighted>(&act)) sighted.push_back(*sight);
      if (const auto* end = std::get_if<Broken>(&act)) broken = end->why;
      if (std::holds_alternative<SightOver>(act)) sight_over = true;
    }
  }
  Gate gate_;
  std::string to_client_, to_server_;
};

std::string call(int id, const std::string& tool, const std::string& arguments = "{}") {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})",
      id, tool, arguments);
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Gate, PassesAllowedTrafficByteForByte) {
  Link link;
  for (const std::string line :
       {R"( {"jsonrpc":"2.0" , "id":"a\u0062","method":"tools\/call","params":{"name":"read_x"}})",
        R"({"method":"initialize","id":0,"jsonrpc":"2.0","params":{"capabilities":{}}})",
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})"}) {
    link.client(line);
    EXPECT_EQ(link.take_server(), line + "\n");
    EXPECT_EQ(link.take_client(), "");
  }
  for (const std::string line :
       {R"({"jsonrpc":"2.0","id":"ab","result":{"content":[],"big":123456789012345678901}})",
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})",
        R"({"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"x"}})"}) {
    link.server(line);
    EXPECT_EQ(link.take_client(), line + "\n");
    EXPECT_EQ(link.take_server(), "");
  }
  ASSERT_EQ(link.called.size(), 1U);
  EXPECT_EQ(link.called[0].tool, "read_x");
  EXPECT_EQ(link.called[0].rule, "cordon.toml:2");
  EXPECT_TRUE(link.refused.empty());
}

TEST(Gate, AnswersADeniedCallItselfAndTheServerNeverHearsOfIt) {
  Link link;
  link.client(call(1, "delete_all"));
  EXPECT_EQ(link.take_server(), "");
  const std::string answer = link.take_client();
  EXPECT_TRUE(says(answer, R"("id":1,)") && says(answer, R"("isError":true)")) << answer;
  EXPECT_TRUE(says(answer, "CORDON-TOOL-DENIED") && says(answer, "cordon.toml:3")) << answer;
  EXPECT_FALSE(says(answer, "resultType"));
  link.client(call(2, "unknown_tool"));
  EXPECT_TRUE(says(link.take_client(), "matches no rule"));
  ASSERT_EQ(link.refused.size(), 2U);
  EXPECT_EQ(link.refused[0].tried, "call fs/delete_all");
  // The counter-arm: the same call where no rule denies it.
  Link open{{}, "[tools.fs]\nallow = [\"*\"]\n"};
  open.client(call(1, "delete_all"));
  EXPECT_EQ(open.take_server(), call(1, "delete_all") + "\n");
}

TEST(Gate, RefusesEveryToolOfAServerThatThePolicyDoesNotName) {
  Link link{{}, "[tools.other]\nallow = [\"*\"]\n"};
  link.client(call(1, "read_x"));
  EXPECT_EQ(link.take_server(), "");
  EXPECT_TRUE(says(link.take_client(), "there is no [tools.fs]"));
}

// C268: arguments by the schema of the rule.
TEST(Gate, HoldsArgumentsAgainstTheRulesSchema) {
  for (const auto& [arguments, passes] : {std::pair{R"({"in":"docs"})", true},
                                          {R"({"in":"docs","x":1})", false},
                                          {R"({})", false},
                                          {R"({"in":"..\/docs"})", false},
                                          {R"({"in":["docs"]})", false},
                                          {R"({"\u0069n":"docs"})", true},
                                          {R"({"in":"docs","IN":"all"})", false}}) {
    Link link;
    const std::string line = call(1, "search", arguments);
    link.client(line);
    EXPECT_EQ(link.take_server(), passes ? line + "\n" : "") << arguments;
    EXPECT_EQ(link.take_client().empty(), passes) << arguments;
  }
}

// C280.
TEST(Gate, CountsCallsByTheMinute) {
  Link link;
  for (int id = 1; id <= 3; ++id) link.client(call(id, "search", R"({"in":"docs"})"));
  EXPECT_EQ(link.called.size(), 2U);
  ASSERT_EQ(link.refused.size(), 1U);
  EXPECT_EQ(link.refused[0].code, "CORDON-TOOL-BUDGET");
  link.now += std::chrono::seconds{62};
  link.client(call(4, "search", R"({"in":"docs"})"));
  EXPECT_EQ(link.called.size(), 3U);
}

// C277.
TEST(Gate, RefusesLinesThatAreNoPlainRequests) {
  for (
      const std::string line :
      {R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_x"}}])",
       R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
       R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
       R"({"jsonrpc":"2.0","id":9007199254740993,"method":"ping"})",
       R"({"jsonrpc":"2.0","id":1e3,"method":"ping"})",
       R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"id":1,"method":"ping"})",
       R"({"jsonrpc":"2.0","id":1,"method":"ping","extra":1})",
       R"({"jsonrpc":"2.0","id":1,"method":"ping","result":{}})",
       R"({"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"delete_x"}})",
       R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_x"}})",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"delete_x"}})",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_\u0430"}})",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":["read_x"]})",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_x","arguments":[]}})",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_x","Name":"delete_x"}})",
       R"({"jsonrpc":"2.0","id":77,"result":{}})", "junk"}) {
    Link link;
    link.client(line);
    EXPECT_EQ(link.take_server(), "") << line;
    EXPECT_EQ(link.refused.size(), 1U) << line;
  }
}

TEST(Gate, TellsTheIdOfARefusedLineWhereItHasOne) {
  Link link;
  link.client(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"a":1,"A":2}})");
  EXPECT_TRUE(says(link.take_client(), R"("id":5,"error":{"code":-32600)"));
  link.client(R"({"jsonrpc":"2.0","id":5,"ID":6,"method":"ping"})");
  EXPECT_TRUE(says(link.take_client(), R"("id":null)"));
}

TEST(Gate, RefusesASecondRequestOfTheSameIdAndTooMany) {
  Link link;
  link.client(call(1, "echo"));
  link.client(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(link.refused.size(), 1U);
  for (int id = 2; id < 400; ++id) link.client(call(id, "echo"));
  EXPECT_EQ(link.called.size(), Gate::kMostFlights);
  // One that the client gave up makes room.
  link.client(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  link.client(call(500, "echo"));
  EXPECT_EQ(link.called.size(), Gate::kMostFlights + 1);
}

TEST(Gate, DropsWhatAServerSaysUnasked) {
  Link link;
  link.client(call(1, "echo"));
  for (const std::string line :
       {"junk", R"({"jsonrpc":"2.0","id":2,"result":{}})", R"({"jsonrpc":"2.0","method":"x"})",
        R"([{"jsonrpc":"2.0","id":1,"result":{}}])"}) {
    link.server(line);
    EXPECT_EQ(link.take_client(), "") << line;
  }
  EXPECT_EQ(link.refused.size(), 4U);
  // An answer that is ambiguous is an answer all the same: its client need not wait for another.
  link.server(R"({"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}})");
  EXPECT_TRUE(says(link.take_client(), R"("id":1,"error")"));
}

// C278.
TEST(Gate, BoundsTheLinesOfBothSides) {
  Link link{{.longest_line = 4096}};
  link.client(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")" +
              std::string(5000, 'x') + R"("}})");
  EXPECT_TRUE(says(link.take_client(), "longer than 4096"));
  link.client(call(1, "echo"));
  link.server(std::string(10'000'000, 'y'));
  EXPECT_TRUE(says(link.take_client(), R"("id":1,"error")"));
  EXPECT_TRUE(link.broken.empty());
  link.client(call(2, "echo"));
  link.client(call(3, "echo"));
  link.server(std::string(5000, 'y'));
  EXPECT_FALSE(link.broken.empty());
}

// C279.
TEST(Gate, LetsAServerAskItsClientForNothingUnlessItIsLet) {
  const std::string sampling =
      R"({"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}})";
  Link link;
  link.server(sampling);
  EXPECT_EQ(link.take_client(), "");
  EXPECT_TRUE(says(link.take_server(), R"("id":9,"error":{"code":-32601)"));
  EXPECT_EQ(link.refused[0].code, "CORDON-MCP-REQUEST");
  link.server(R"({"jsonrpc":"2.0","id":10,"method":"ping"})");
  EXPECT_TRUE(says(link.take_client(), "ping"));
  link.client(R"({"jsonrpc":"2.0","id":10,"result":{}})");
  EXPECT_TRUE(says(link.take_server(), R"("id":10)"));
  Link open{{.let = {"sampling/createMessage"}}};
  open.server(sampling);
  EXPECT_EQ(open.take_client(), sampling + "\n");
  for (int i = 0; i < 100; ++i) {
    open.server(
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"sampling/createMessage"}})", 100 + i));
    open.client(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", 100 + i));
  }
  EXPECT_EQ(open.refused.front().why, "a server may not ask its client so often");
}

TEST(Gate, LetsAServerAskForNothingByAResultEither) {
  const std::string result =
      R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}})";
  Link link;
  link.client(call(1, "echo"));
  link.server(result);
  EXPECT_TRUE(says(link.take_client(), "CORDON-MCP-REQUEST"));
  Link open{{.let = {"sampling/createMessage"}}};
  open.client(call(1, "echo"));
  open.server(result);
  EXPECT_EQ(open.take_client(), result + "\n");
}

}  // namespace
}  // namespace cordon::mcp
