// SPDX-License-Identifier: Apache-2.0
// The two ways in which clients say who they are: once, at the beginning (up to 2025-11-25), or
// with every request (from 2026-07-28). (pure)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/server/json_rpc.h"

namespace cordon::mcp::server {

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";

enum class Era : std::uint8_t { legacy, modern };

// What one request says of its sender. Of the legacy era `can_elicit` was said at the beginning.
struct Sender {
  Era era = Era::legacy;
  bool can_elicit = false;  // a person there fills in forms
};

// By the envelope in `params._meta`: where it names a version the request is of the modern era. A
// Problem: it names one that is not served, or lacks what every request has to say.
std::variant<Sender, Problem> sender_of(const json::object& params);
// The same of the capabilities that a client of the legacy era declares in `initialize`.
bool can_elicit(const json::object& capabilities);

// The version that is spoken with a client of the legacy era that asks for `wanted`.
std::string_view legacy_version(std::string_view wanted);
bool is_legacy_version(std::string_view version);

// By which progress is told; nothing: it is not asked for.
std::optional<json::value> progress_token(const json::object& params);

struct ServerFacts {
  std::string version;       // of Cordon
  std::string instructions;  // for the model
};

json::object initialize_result(const ServerFacts& facts, std::string_view version);
json::object discover_result(const ServerFacts& facts);

// What every result of the modern era has beside its own.
json::object modern_result(const ServerFacts& facts, json::object result,
                           std::string_view type = "complete");
// Of those that may be kept: they are the same as long as the server runs.
json::object cacheable(json::object result);

}  // namespace cordon::mcp::server
