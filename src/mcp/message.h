// SPDX-License-Identifier: Apache-2.0
// One line as a message of JSON-RPC 2.0, or why it is none that may pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/json.h"

namespace cordon::mcp {

enum class MessageKind : std::uint8_t { request, notification, response };

struct Message {
  std::string line;  // as it came, without its newline
  Json top;
  MessageKind kind = MessageKind::notification;
  std::string id;      // as JSON, in one spelling; empty: it has none
  std::string method;  // of requests and notifications

  // Null: there is none.
  const Json* params() const noexcept { return top.find("params"); }
  const Json* result() const noexcept { return top.find("result"); }
};

// Longer ids and methods are of no use to anybody.
inline constexpr std::size_t kLongestId = 256;
inline constexpr std::size_t kLongestMethod = 128;

struct ReadMessage {
  Message message;
  std::string refused;  // why it may not pass, half a sentence; empty: it may
  // Where it is refused: the id that an answer to it needs, empty where it has none or more than
  // one; and whether it is itself an answer.
  std::string id;
  bool is_response = false;
};

// Beside what read_line refuses: members that JSON-RPC does not know; another version than 2.0; an
// id that is neither a text of at most kLongestId bytes nor a whole number within 2^53 in plain
// digits; a message that is not exactly one of request, notification and response; a method of
// other characters than letters, digits, `_`, `.`, `-`, `$` and `/`.
ReadMessage read_message(std::string_view line, Numbers numbers);

}  // namespace cordon::mcp
