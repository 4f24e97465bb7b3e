// SPDX-License-Identifier: Apache-2.0
// Any bytes of a client and of its server through the gate: the server hears only lines that the
// client said and answers of ours, and no call of a tool that the policy does not allow.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "mcp/gate.h"
#include "mcp/tool_policy.h"
#include "promise.h"

namespace {

using namespace cordon;

void promise(bool kept, std::string_view words) {
  if (!kept) fuzz::broken(words);
}

mcp::Setup setup() {
  mcp::ToolServerSent server{.name = "x"};
  server.rules.push_back({.tool = "read_*", .effect = 2});
  server.rules.push_back({.tool = "write", .effect = 1});
  return {.server = "x",
          .sandbox = "s",
          .documents = {{.origin = 2, .files = {{"p", 2}}, .servers = {server}}},
          .longest_line = 4096,
          .let = {"roots/list"},
          .key = "k"};
}

// What one side heard, line by line.
class Heard {
 public:
  void take(std::string_view bytes) { rest_ += bytes; }
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      all.push_back(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
    return all;
  }

 private:
  std::string rest_;
};

void check_server_line(const std::string& line, const std::set<std::string>& said) {
  const mcp::ReadMessage read = mcp::read_message(line, mcp::Numbers::exact);
  promise(read.refused.empty(), "what the server hears is unambiguous");
  const mcp::Message& message = read.message;
  const bool is_ours =
      message.kind == mcp::MessageKind::response && line.find("cordon: ") != line.npos;
  promise(is_ours || said.contains(line), "the server hears what the client said");
  if (message.method != "tools/call") return;
  const std::string* const tool = message.params()->find_text("name");
  promise(tool != nullptr && tool->starts_with("read_"), "no other tool is called");
}

}  // namespace

// Each line of the input begins with who says it: `>` the client, `<` the server.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  const mcp::Setup begun = setup();
  auto policy = mcp::policy_of(begun.documents);
  promise(policy.has_value(), "the rules are rules");
  mcp::Gate gate{begun, *std::move(policy)};
  std::set<std::string> said;
  Heard server;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    const bool from_client = line.front() == '>';
    const std::string text{line.substr(1)};
    if (from_client) said.insert(text);
    const auto acts =
        from_client ? gate.from_client(text + "\n", {}) : gate.from_server(text + "\n", {});
    for (const mcp::FromFilter& act : acts) {
      const auto frame = mcp::encode(act);
      promise(mcp::decode_from_filter(std::span{frame}.subspan(4)).has_value(),
              "what the filter says is taken");
      if (const auto* const heard = std::get_if<mcp::ToServer>(&act)) server.take(heard->bytes);
    }
    for (const std::string& heard : server.lines()) check_server_line(heard, said);
  }
  return 0;
}
