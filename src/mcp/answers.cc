// SPDX-License-Identifier: Apache-2.0
#include "mcp/answers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "mcp/json.h"

namespace cordon::mcp {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

std::string_view id_or_null(std::string_view id) { return id.empty() ? "null" : id; }

std::string elicitation(std::string_view question) {
  return fmt::format(
      R"({{"message":{},"requestedSchema":{{"type":"object","properties":{{"decision":{{"type":)"
      R"("string","title":"Decision","enum":["{}","deny"]}}}},"required":["decision"]}}}})",
      json_text(question), kAllowOnce);
}

// What no reader sees is made visible, and a long text is cut with a word about it.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 4000;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    if (out.size() >= kMost) return out + fmt::format(" … and {} more bytes", rest.size());
    if (character.length == 0 || is_deceptive(character.code)) {
      out += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(character.code));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string error_line(std::string_view id, int code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})",
                     id_or_null(id), code, json_text(message)) +
         "\n";
}

std::string refused_call_line(std::string_view id, Era era, const Refused& refused) {
  std::string text = fmt::format("Cordon refused this call: {} ({}; rule: {}).", refused.why,
                                 refused.code, refused.rule);
  if (!refused.action.empty()) text += fmt::format(" {}", refused.action);
  if (!refused.fix.empty()) text += fmt::format(" A person may allow it: {}", refused.fix);
  return fmt::format(
             R"({{"jsonrpc":"2.0","id":{},"result":{{{}"content":[{{"type":"text","text":{}}}],)"
             R"("isError":true,"_meta":{{"cordon/denial":{{"code":{},"tried":{},"rule":{},)"
             R"("why":{},"fix":{},"retry_helps":false}}}}}}}})",
             id_or_null(id), era == Era::modern ? R"("resultType":"complete",)" : "",
             json_text(text), json_text(refused.code), json_text(refused.tried),
             json_text(refused.rule), json_text(refused.why), json_text(refused.fix)) +
         "\n";
}

std::string ask_request_line(std::string_view id, std::string_view question) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"elicitation/create","params":{}}})", id,
                     elicitation(question)) +
         "\n";
}

std::string ask_result_line(std::string_view id, std::string_view question,
                            std::string_view state) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required",)"
                     R"("inputRequests":{{"{}":{{"method":"elicitation/create","params":{}}}}},)"
                     R"("requestState":{}}}}})",
                     id, kAskKey, elicitation(question), json_text(state)) +
         "\n";
}

std::string question_of(std::string_view server, std::string_view tool, std::string_view arguments,
                        std::string_view why) {
  return fmt::format("Cordon asks: may the tool {}/{} be called, once, with {}?{}{}", server, tool,
                     shown(arguments), why.empty() ? "" : " The policy says: ", shown(why));
}

}  // namespace cordon::mcp
