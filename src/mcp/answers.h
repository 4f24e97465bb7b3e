// SPDX-License-Identifier: Apache-2.0
// Lines of our own, each with its newline: what the filter says in place of a server or a client.
#pragma once

#include <string>
#include <string_view>

#include "mcp/filter_frame.h"

namespace cordon::mcp {

enum class Era : bool { legacy, modern };  // 2025-11-25 and before; 2026-07-28

// Codes of JSON-RPC.
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kNoMethod = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kServerError = -32000;

// `id`: as JSON; empty: null.
std::string error_line(std::string_view id, int code, std::string_view message);

// The result of a call that did not reach the server: what was refused, by which rule, and what to
// do, as text for a model and under `_meta` for a program.
std::string refused_call_line(std::string_view id, Era era, const Refused& refused);

// Asks a person by the client: the request of the legacy era, and the result of the modern one. The
// form has one field, `decision`, and one answer of it means yes.
inline constexpr std::string_view kAllowOnce = "allow once";
inline constexpr std::string_view kAskKey = "cordon";
std::string ask_request_line(std::string_view id, std::string_view question);
std::string ask_result_line(std::string_view id, std::string_view question, std::string_view state);

// What a person is asked about a call; `arguments` is JSON.
std::string question_of(std::string_view server, std::string_view tool, std::string_view arguments,
                        std::string_view why);

}  // namespace cordon::mcp
