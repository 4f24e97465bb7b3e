// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0 as MCP speaks it: one message at a time, read strictly and written on one line.
// (pure)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace cordon::mcp::server {

namespace json = boost::json;

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kUnknownMethod = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;

// An answer that is an error.
struct Problem {
  int code = kInvalidRequest;
  std::string message;
  json::object data{};  // empty: none
};

struct Request {
  json::value id;  // a text or a whole number
  std::string method;
  json::object params{};
};
struct Notification {
  std::string method;
  json::object params{};
};
// To a request of ours.
struct Response {
  json::value id;
  std::optional<json::object> result;  // nothing: an error
};
// What is no message; `id` is null where none could be read.
struct Fault {
  json::value id;
  Problem problem;
};
using Message = std::variant<Request, Notification, Response, Fault>;

// Deeper is nothing that a client says.
inline constexpr std::size_t kDeepestMessage = 32;

// A batch is none: the versions that had them are served without.
Message read_message(std::string_view text);

// Without a newline at their ends, nor any in them.
std::string result_text(const json::value& id, json::object result);
std::string problem_text(const json::value& id, const Problem& problem);
std::string request_text(const json::value& id, std::string_view method, json::object params);
std::string notification_text(std::string_view method, json::object params);

// The object or text at `key`; nothing: absent, or of another kind.
const json::object* object_at(const json::object& object, std::string_view key);
const json::string* text_at(const json::object& object, std::string_view key);

}  // namespace cordon::mcp::server
