// SPDX-License-Identifier: Apache-2.0
// Any bytes as what an MCP client says: lines are bounded however they come, every message is
// answered in one line, and arguments that fit a tool are of the kinds that it reads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "mcp/server/era.h"
#include "mcp/server/input_lines.h"
#include "mcp/server/json_rpc.h"
#include "mcp/server/text_cap.h"
#include "mcp/server/tool_list.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace mcp = cordon::mcp;

constexpr std::size_t kLongest = 1000;

void check_line(const std::string& text) {
  if (text.find('\n') != std::string::npos) broken("an answer is one line");
  if (!cordon::is_utf8(text)) broken("an answer is UTF-8");
}

void check_call(const mcp::server::Request& request) {
  static const mcp::server::ToolList kList{{}};
  const auto* const name = mcp::server::text_at(request.params, "name");
  const auto* const tool = name == nullptr ? nullptr : kList.find(*name);
  const auto* const arguments = mcp::server::object_at(request.params, "arguments");
  if (tool == nullptr || arguments == nullptr || !mcp::server::check_arguments(*tool, *arguments))
    return;
  for (const auto& [key, value] : *arguments) {
    if (key == "command" && !value.is_string()) broken("a command is a text");
    if (key == "timeout_s" && value.to_number<int>() > 50) broken("no call is longer");
    if (key == "unsandboxed") broken("there is no such argument");
  }
}

void check_message(const std::string& text) {
  const mcp::server::Message message = mcp::server::read_message(text);
  if (const auto* const fault = std::get_if<mcp::server::Fault>(&message)) {
    check_line(mcp::server::problem_text(fault->id, fault->problem));
  }
  const auto* const request = std::get_if<mcp::server::Request>(&message);
  if (request == nullptr) return;
  const auto sender = mcp::server::sender_of(request->params);
  if (const auto* const problem = std::get_if<mcp::server::Problem>(&sender)) {
    check_line(mcp::server::problem_text(request->id, *problem));
  }
  check_line(mcp::server::result_text(request->id, request->params));
  if (request->method == "tools/call") check_call(*request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  mcp::server::InputLines lines{kLongest};
  // In pieces of a size that the bytes choose.
  const std::size_t step = size == 0 ? 1 : 1 + data[0];
  for (std::size_t at = 0; at < all.size(); at += step) {
    lines.feed(all.substr(at, step));
    while (const auto line = lines.next()) {
      if (line->text.size() > kLongest) broken("a line is bounded");
      if (!line->is_too_long) check_message(line->text);
    }
  }
  const std::string text = mcp::server::as_utf8(all);
  if (!cordon::is_utf8(text)) broken("any bytes become UTF-8");
  if (!cordon::is_utf8(mcp::server::head_and_tail(text, 10, "more").text))
    broken("no character is cut");
  return 0;
}
