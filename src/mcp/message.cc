// SPDX-License-Identifier: Apache-2.0
#include "mcp/message.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "mcp/fold.h"
#include "policy/text.h"

namespace cordon::mcp {
namespace {

constexpr std::array<std::string_view, 6> kMembers = {"jsonrpc", "id",     "method",
                                                      "params",  "result", "error"};

bool is_method(std::string_view text) {
  return !text.empty() && text.size() <= kLongestMethod && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view{"_.-$/"}.find(c) != std::string_view::npos;
  });
}

// Empty: it is no id.
std::string id_of(const Json& value, std::string_view line) {
  if (value.is_text() && value.text.size() <= kLongestId) {
    std::string spelled;
    append_json_text(spelled, value.text);
    return spelled;
  }
  const std::string_view spelled = value.in(line);
  constexpr std::size_t kMostDigits = 16;  // of 2^53
  const std::string_view digits = spelled.substr(spelled.starts_with('-') ? 1 : 0);
  if (value.kind != JsonKind::number || digits.size() > kMostDigits || spelled == "-0" ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return {};
  }
  // In sixteen digits more than 2^53 can be said.
  if (digits.size() == kMostDigits && digits > "9007199254740991") return {};
  return std::string{spelled};
}

// Of a line that is refused: nothing where an `id` stands there twice, however it is spelled.
std::string only_id_of(const Json& top, std::string_view line) {
  const JsonMember* found = nullptr;
  for (const JsonMember& member : top.members) {
    if (folded(member.key) != "id") continue;
    if (found != nullptr) return {};
    found = &member;
  }
  return found == nullptr || found->key != "id" ? std::string{} : id_of(found->value, line);
}

std::string why_no_envelope(const Json& top) {
  for (const JsonMember& member : top.members) {
    if (std::ranges::find(kMembers, member.key) == kMembers.end()) {
      return fmt::format("JSON-RPC has no member {}", policy::in_quotes(member.key));
    }
  }
  const std::string* const version = top.find_text("jsonrpc");
  if (version == nullptr || *version != "2.0") return R"("jsonrpc" is not "2.0")";
  return {};
}

// Fills the kind, the id and the method; says why it cannot.
std::string classify(Message& message) {
  const Json& top = message.top;
  const Json* const id = top.find("id");
  const Json* const method = top.find("method");
  const int answers = (top.find("result") != nullptr ? 1 : 0) + (top.find("error") != nullptr);
  if (id != nullptr) {
    message.id = id_of(*id, message.line);
    if (message.id.empty()) return "its id is neither a short text nor a whole number within 2^53";
  }
  if (method == nullptr) {
    if (answers != 1 || id == nullptr || top.find("params") != nullptr)
      return "it is neither a request nor an answer";
    message.kind = MessageKind::response;
    return {};
  }
  if (answers != 0) return "it is a request and an answer at once";
  if (!method->is_text() || !is_method(method->text)) return "its method is no name of a method";
  const Json* const params = top.find("params");
  if (params != nullptr && !params->is_object()) return "its params are no object";
  message.method = method->text;
  message.kind = id != nullptr ? MessageKind::request : MessageKind::notification;
  return {};
}

}  // namespace

ReadMessage read_message(std::string_view line, Numbers numbers) {
  ReadMessage read;
  ReadJson json = read_line(line, numbers);
  read.refused = std::move(json.refused);
  read.message.line = line;
  read.message.top = std::move(json.top);
  if (!json.is_whole) return read;
  if (read.refused.empty()) read.refused = why_no_envelope(read.message.top);
  if (read.refused.empty()) read.refused = classify(read.message);
  if (read.refused.empty()) return read;
  read.id = only_id_of(read.message.top, line);
  read.is_response = read.message.top.find("method") == nullptr;
  return read;
}

}  // namespace cordon::mcp
