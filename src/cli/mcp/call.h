// SPDX-License-Identifier: Apache-2.0
// One call of a tool, and what it is answered with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include <boost/asio/awaitable.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "mcp/server/era.h"
#include "mcp/server/json_rpc.h"

namespace cordon::cli {

namespace json = boost::json;

// No call lasts longer: clients give up after a minute.
inline constexpr std::chrono::seconds kLongestCall{49};

struct Call {
  mcp::server::Sender sender;
  std::string tool;
  json::object arguments;  // as the tool declares them
  std::optional<json::value> progress;
  std::optional<std::string> state;  // of the modern era: what it was given with a question
  json::object answers{};            // and what a person said to it
  Ticks began{};

  std::function<void(std::string_view method, json::object params)> notify;
  // Of the legacy era: asks the client, until `deadline`. Nothing: no answer came.
  std::function<asio::awaitable<std::optional<json::object>>(json::object params, Ticks deadline)>
      elicit;

  bool is_cancelled = false;
  std::function<void()> when_cancelled{};
  void cancel() {
    is_cancelled = true;
    if (when_cancelled) when_cancelled();
  }
};

struct ToolResult {
  json::object structured{};  // as the tool declares it; empty: an error
  std::string text;
  bool is_error = false;  // Cordon failed, or refused the call
};
// Of the modern era: it is asked again with a person's answer.
struct InputRequired {
  json::object requests;
  std::string state;
};
using ToolAnswer = std::variant<ToolResult, InputRequired, mcp::server::Problem>;

inline ToolResult failed(std::string text) {
  return {.structured = {}, .text = std::move(text), .is_error = true};
}

// Of arguments that were held against the tool's schema.
std::string text_in(const json::object& arguments, std::string_view key);
std::int64_t number_in(const json::object& arguments, std::string_view key, std::int64_t otherwise);
bool flag_in(const json::object& arguments, std::string_view key);

}  // namespace cordon::cli
