// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/json_rpc.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "mcp/json.h"

namespace cordon::mcp::server {
namespace {

Fault fault(json::value id, int code, std::string message) {
  return {.id = std::move(id), .problem = {.code = code, .message = std::move(message)}};
}

bool is_id(const json::value& value) {
  return value.is_string() || value.is_int64() || value.is_uint64();
}

Message read_response(json::object& whole, json::value id) {
  if (json::object* const result = whole["result"].if_object()) {
    return Response{.id = std::move(id), .result = std::move(*result)};
  }
  return Response{.id = std::move(id), .result = std::nullopt};
}

// The rest of what has a method.
Message read_call(json::object& whole, std::string method) {
  json::object params;
  if (json::value* const given = whole.if_contains("params")) {
    const json::value* const id = whole.if_contains("id");
    if (!given->is_object()) {
      return fault(id != nullptr && is_id(*id) ? *id : json::value{}, kInvalidRequest,
                   "`params` is an object");
    }
    params = std::move(given->as_object());
  }
  json::value* const id = whole.if_contains("id");
  if (id == nullptr) return Notification{.method = std::move(method), .params = std::move(params)};
  if (!is_id(*id)) return fault({}, kInvalidRequest, "`id` is a text or a whole number");
  return Request{.id = std::move(*id), .method = std::move(method), .params = std::move(params)};
}

// Boost escapes every control character: there is no newline in it.
std::string line_of(const json::object& whole) { return json::serialize(whole); }

json::object begun() { return {{"jsonrpc", "2.0"}}; }

}  // namespace

Message read_message(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error, {}, {.max_depth = kDeepestMessage});
  if (error) return fault({}, kParseError, "this is no JSON: " + error.message());
  json::object* const whole = value.if_object();
  if (whole == nullptr) {
    return fault({}, kInvalidRequest,
                 value.is_array() ? "batches are not served: send one message at a time"
                                  : "a message is an object");
  }
  // Boost keeps the last of two keys, other readers the first: whoever showed the message to a
  // person may have shown another.
  if (const ReadJson strict = read_line(text, Numbers::exact); !strict.refused.empty()) {
    return fault({}, kInvalidRequest, "the message is refused: " + strict.refused);
  }
  const json::string* const version = text_at(*whole, "jsonrpc");
  if (version == nullptr || *version != "2.0") {
    return fault({}, kInvalidRequest, "`jsonrpc` is \"2.0\"");
  }
  if (const json::value* const method = whole->if_contains("method")) {
    if (!method->is_string()) return fault({}, kInvalidRequest, "`method` is a text");
    return read_call(*whole, std::string{method->as_string()});
  }
  json::value* const id = whole->if_contains("id");
  if (id != nullptr && is_id(*id) && (whole->contains("result") || whole->contains("error"))) {
    return read_response(*whole, std::move(*id));
  }
  return fault({}, kInvalidRequest, "neither a request nor an answer to one");
}

std::string result_text(const json::value& id, json::object result) {
  json::object whole = begun();
  whole["id"] = id;
  whole["result"] = std::move(result);
  return line_of(whole);
}

std::string problem_text(const json::value& id, const Problem& problem) {
  json::object error{{"code", problem.code}, {"message", problem.message}};
  if (!problem.data.empty()) error["data"] = problem.data;
  json::object whole = begun();
  whole["id"] = id;
  whole["error"] = std::move(error);
  return line_of(whole);
}

std::string request_text(const json::value& id, std::string_view method, json::object params) {
  json::object whole = begun();
  whole["id"] = id;
  whole["method"] = method;
  whole["params"] = std::move(params);
  return line_of(whole);
}

std::string notification_text(std::string_view method, json::object params) {
  json::object whole = begun();
  whole["method"] = method;
  whole["params"] = std::move(params);
  return line_of(whole);
}

const json::object* object_at(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

const json::string* text_at(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_string();
}

}  // namespace cordon::mcp::server
