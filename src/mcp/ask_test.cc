// SPDX-License-Identifier: Apache-2.0
// Calls about which a person is asked (C281), and tools that changed (C265, C266, C267, C282).
#include <gtest/gtest.h>

#include "mcp/gate.h"
#include "mcp/tool_policy.h"
#include "policy/policy_text_test.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kAsking = R"([tools.fs]
allow = ["read_file"]
[[tools.fs.rules]]
tool = "write_file"
effect = "ask"
)";

class Pair {
 public:
  explicit Pair(std::vector<Pin> pins = {}, bool is_first_sight = true,
                std::string_view rules = kAsking)
      : gate_{Setup{.server = "fs",
                    .sandbox = "s1",
                    .pins = std::move(pins),
                    .is_first_sight = is_first_sight,
                    .longest_line = 1 << 20,
                    .key = "k",
                    .accept = "accept it"},
              *policy_of(tool_documents_of(policy::policy_from(std::string{rules}), "fs"))} {}

  std::string client(const std::string& line) { return take(gate_.from_client(line + "\n", {})); }
  std::string server(const std::string& line) { return take(gate_.from_server(line + "\n", {})); }
  std::string to_server;
  std::vector<Sighted> sighted;
  bool over = false;
  std::vector<Called> called;

 private:
  std::string take(const std::vector<FromFilter>& acts) {
    std::string said;
    to_server.clear();
    for (const FromFilter& act : acts) {
      if (const auto* client = std::get_if<ToClient>(&act)) said += client->bytes;
      if (const auto* server = std::get_if<ToServer>(&act)) to_server += server->bytes;
      if (const auto* sight = std::get_if<Sighted>(&act)) sighted.push_back(*sight);
      if (const auto* call = std::get_if<Called>(&act)) called.push_back(*call);
      if (std::holds_alternative<SightOver>(act)) over = true;
    }
    return said;
  }
  Gate gate_;
};

const std::string kElicits =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"elicitation":{}}}})";
const std::string kWrite =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"p":"\u202ea"}}})";

std::string after(const std::string& text, std::string_view mark, char end) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find(end, begin) - begin);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string answer(const std::string& id, const std::string& result) {
  return R"({"jsonrpc":"2.0","id":")" + id + R"(","result":)" + result + "}";
}

TEST(Ask, HoldsALegacyCallUntilAPersonAllowsIt) {
  Pair pair;
  static_cast<void>(pair.client(kElicits));
  const std::string asked = pair.client(kWrite);
  EXPECT_EQ(pair.to_server, "");
  EXPECT_TRUE(has(asked, "elicitation/create") && has(asked, "<U+202E>")) << asked;
  const std::string id = after(asked, R"("id":")", '"');
  EXPECT_EQ(pair.client(answer(id, R"({"action":"accept","content":{"decision":"allow once"}})")),
            "");
  EXPECT_EQ(pair.to_server, kWrite + "\n");
  ASSERT_EQ(pair.called.size(), 1U);
  EXPECT_TRUE(pair.called[0].approved);
  // Used once.
  static_cast<void>(
      pair.client(answer(id, R"({"action":"accept","content":{"decision":"allow once"}})")));
  EXPECT_EQ(pair.to_server, "");
}

TEST(Ask, RefusesALegacyCallThatNobodyAllows) {
  for (const std::string result : {R"({"action":"decline"})", R"({"action":"cancel"})", R"({})",
                                   R"({"action":"accept","content":{"decision":"deny"}})",
                                   R"({"action":"accept","content":{}})"}) {
    Pair pair;
    static_cast<void>(pair.client(kElicits));
    const std::string id = after(pair.client(kWrite), R"("id":")", '"');
    EXPECT_TRUE(has(pair.client(answer(id, result)), "CORDON-TOOL-DECLINED")) << result;
    EXPECT_EQ(pair.to_server, "") << result;
  }
  Pair mute;
  EXPECT_TRUE(has(mute.client(kWrite), "CORDON-TOOL-ASK"));
  EXPECT_EQ(mute.to_server, "");
}

TEST(Ask, CannotBeAnsweredByTheServer) {
  Pair pair;
  static_cast<void>(pair.client(kElicits));
  const std::string id = after(pair.client(kWrite), R"("id":")", '"');
  EXPECT_EQ(pair.server(answer(id, R"({"action":"accept","content":{"decision":"allow once"}})")),
            "");
  EXPECT_EQ(pair.to_server, "");
  static_cast<void>(pair.client(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  EXPECT_EQ(pair.to_server, "") << "the server never heard of it";
}

std::string modern(int id, const std::string& arguments, const std::string& more = "") {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"write_file",)"
      R"("arguments":{}{},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}}}}}})",
      id, arguments, more);
}

std::string approval(const std::string& state, const std::string& decision = "allow once") {
  return fmt::format(
      R"(,"inputResponses":{{"cordon":{{"action":"accept","content":{{"decision":"{}"}}}}}},)"
      R"("requestState":"{}")",
      decision, state);
}

TEST(Ask, AsksAModernClientByItsResultAndForgetsItsOwnWordsAfterwards) {
  Pair pair;
  const std::string asked = pair.client(modern(1, R"({"p":"a"})"));
  EXPECT_TRUE(has(asked, "input_required")) << asked;
  const std::string state = after(asked, R"("requestState":")", '"');
  EXPECT_EQ(pair.client(modern(2, R"({ "p" : "a" })", approval(state))), "");
  EXPECT_EQ(pair.to_server, modern(2, R"({ "p" : "a" })") + "\n");
  EXPECT_TRUE(has(pair.client(modern(3, R"({"p":"a"})", approval(state))), "used already"));
  EXPECT_EQ(pair.to_server, "");
}

TEST(Ask, BindsAnApprovalToItsCall) {
  for (const auto& [arguments, decision] :
       {std::pair{R"({"p":"b"})", "allow once"}, {R"({"p":"a"})", "deny"}}) {
    Pair pair;
    const std::string state =
        after(pair.client(modern(1, R"({"p":"a"})")), R"("requestState":")", '"');
    EXPECT_TRUE(
        has(pair.client(modern(2, arguments, approval(state, decision))), "CORDON-TOOL-DECLINED"));
    EXPECT_EQ(pair.to_server, "");
    EXPECT_TRUE(has(pair.client(modern(3, R"({"p":"a"})", approval(state))), "used already"))
        << "it is used up";
  }
  Pair other;
  EXPECT_TRUE(has(other.client(modern(1, R"({"p":"a"})", approval("cordon-0"))), "used already"));
}

TEST(Ask, GoesOnWithAnApprovedCallForWhichTheServerWantsMore) {
  Pair pair;
  const std::string state =
      after(pair.client(modern(1, R"({"p":"a"})")), R"("requestState":")", '"');
  static_cast<void>(pair.client(modern(2, R"({"p":"a"})", approval(state))));
  const std::string more =
      R"({"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"S"}})";
  EXPECT_EQ(pair.server(more), more + "\n");
  const std::string next = modern(3, R"({"p":"a"})", R"(,"requestState":"S")");
  static_cast<void>(pair.client(next));
  EXPECT_EQ(pair.to_server, next + "\n");
  EXPECT_TRUE(
      has(pair.client(modern(4, R"({"p":"a"})", R"(,"requestState":"S")")), "nobody approved"));
}

std::string list_of(const std::string& tools, const std::string& more = "") {
  return R"({"jsonrpc":"2.0","id":5,"result":{"tools":[)" + tools + "]" + more + "}}";
}
const std::string kAskList = R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})";
const std::string kRead =
    R"({"name":"read_file","description":"Reads","inputSchema":{"type":"object"}})";

std::string listed(Pair& pair, const std::string& tools, const std::string& more = "") {
  static_cast<void>(pair.client(kAskList));
  return pair.server(list_of(tools, more));
}

std::string call_read(Pair& pair) {
  return pair.client(
      R"({"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"read_file"}})");
}

TEST(Pins, AreMadeAtFirstSightAndTheListPassesAsItCame) {
  Pair pair;
  EXPECT_EQ(listed(pair, " " + kRead + " "), list_of(" " + kRead + " ") + "\n");
  ASSERT_EQ(pair.sighted.size(), 1U);
  EXPECT_TRUE(pair.sighted[0].is_pinned && pair.over);
  EXPECT_EQ(call_read(pair), "");
}

// C265: each field of a tool.
TEST(Pins, RefuseAToolThatHasChanged) {
  Pair first;
  static_cast<void>(listed(first, kRead));
  const std::vector<Pin> pins{{"read_file", first.sighted[0].sha256}};
  for (
      const std::string tool :
      {R"({"name":"read_file","description":"Reads!","inputSchema":{"type":"object"}})",
       R"({"name":"read_file","description":"Reads","inputSchema":{"type":"object","x":1}})",
       R"({"name":"read_file","description":"Reads","inputSchema":{"type":"object"},"title":"t"})",
       R"({"name":"read_file","description":"Reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})",
       R"({"name":"read_file","description":"Reads","inputSchema":{"type":"object"},"outputSchema":{}})"}) {
    Pair pair{pins, false};
    EXPECT_EQ(listed(pair, tool), list_of("") + "\n") << tool;
    ASSERT_EQ(pair.sighted.size(), 1U);
    EXPECT_FALSE(pair.sighted[0].is_pinned);
    const std::string refused = call_read(pair);
    EXPECT_TRUE(has(refused, "CORDON-TOOL-CHANGED") && has(refused, "accept it")) << refused;
    EXPECT_EQ(pair.to_server, "");
    // The counter-arm: accepted as it is now.
    Pair accepted{{{"read_file", pair.sighted[0].sha256}}, false};
    EXPECT_EQ(listed(accepted, tool), list_of(tool) + "\n");
    EXPECT_EQ(call_read(accepted), "");
  }
  Pair reordered{pins, false};
  const std::string same =
      R"({"inputSchema":{"type":"object"},"description":"R\u0065ads","name":"read_file"})";
  EXPECT_EQ(listed(reordered, same), list_of(same) + "\n") << "it says the same";
}

TEST(Pins, RefuseAToolThatCameLater) {
  Pair pair;
  static_cast<void>(listed(pair, R"({"name":"write_file"})", R"(,"nextCursor":"2")"));
  EXPECT_FALSE(pair.over);
  static_cast<void>(listed(pair, R"({"name":"echo"})"));
  EXPECT_TRUE(pair.over);
  EXPECT_EQ(listed(pair, kRead), list_of("") + "\n");
  EXPECT_TRUE(has(call_read(pair), "was not there"));
}

// C266, C267.
TEST(Pins, WaitForAPersonWhereADescriptionHidesSomething) {
  for (const std::string& tool :
       {std::string{R"({"name":"read_file","description":"a\u200bb"})"},
        std::string{R"({"name":"read_file","description":"\u001b[8m"})"},
        std::string{R"({"name":"read_file","description":"a <!-- b --> c"})"},
        std::string{R"({"name":"read_file","inputSchema":{"title":"<\u0021--b"}})"},
        R"({"name":"read_file","description":")" + std::string(kLongestTool, 'x') + R"("})"}) {
    Pair pair;
    EXPECT_EQ(listed(pair, tool), list_of("") + "\n");
    ASSERT_EQ(pair.sighted.size(), 1U);
    EXPECT_FALSE(pair.sighted[0].is_pinned);
    EXPECT_TRUE(has(call_read(pair), "CORDON-TOOL-CHANGED"));
  }
  Pair pair{{}, true, "[tools.fs]\nallow = [\"*\"]\n"};
  EXPECT_EQ(listed(pair, kRead + R"(,{"name":"READ_file"},{"name":"re\u0430d_file"})"),
            list_of(kRead) + "\n");
}

TEST(Pins, LeaveOutWhatThePolicyRefusesWhateverTheArguments) {
  Pair pair{{},
            true,
            "[tools.fs]\nallow = [\"read_*\"]\n[[tools.fs.rules]]\ntool = \"echo\"\n"
            "effect = \"allow\"\narguments = { required = [\"x\"] }\n"};
  EXPECT_EQ(listed(pair, kRead + R"(,{"name":"other"},{"name":"echo"})"),
            list_of(kRead + R"(,{"name":"echo"})") + "\n");
}

TEST(PinFile, IsReadBackAsItWasWritten) {
  PinFile file;
  const std::string one(64, 'a');
  const std::string two(64, 'b');
  file.take({.tool = "x", .sha256 = one, .is_pinned = true});
  file.take({.tool = "y", .sha256 = one, .why = "it hides", .definition = R"({"a b":"\t"})"});
  EXPECT_EQ(*parse_pins(to_text(file)), file);
  // Whoever speaks for the filter cannot change what is pinned.
  file.take({.tool = "x", .sha256 = two, .is_pinned = true});
  EXPECT_EQ(file.pinned[0].sha256, one);
  file.is_seen = true;
  file.take({.tool = "z", .sha256 = two, .is_pinned = true});
  EXPECT_EQ(file.pinned.size(), 1U);
  EXPECT_EQ(file.accept({}), std::vector<std::string>{"y"});
  EXPECT_EQ(file.pinned.size(), 2U);
  EXPECT_EQ(*parse_pins(to_text(file)), file);
  for (const std::string_view bad :
       {"pinned x", "pinned x aa\n", "pinned x/y aa\n", "nonsense\n", "seen it\n"}) {
    EXPECT_FALSE(parse_pins(bad)) << bad;
  }
}

}  // namespace
}  // namespace cordon::mcp
