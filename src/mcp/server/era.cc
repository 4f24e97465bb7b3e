// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/era.h"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>

namespace cordon::mcp::server {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";

constexpr std::array<std::string_view, 4> kLegacyVersions{kNewestLegacyVersion, "2025-06-18",
                                                          "2025-03-26", "2024-11-05"};

// A client may keep what is the same for as long as we run.
constexpr int kKeepMilliseconds = 300'000;

json::object server_info(const ServerFacts& facts) {
  return {{"name", "cordon"}, {"title", "Cordon"}, {"version", facts.version}};
}

json::object capabilities() { return {{"tools", json::object{}}}; }

}  // namespace

std::variant<Sender, Problem> sender_of(const json::object& params) {
  const json::object* const meta = object_at(params, "_meta");
  const json::value* const version = meta == nullptr ? nullptr : meta->if_contains(kVersionKey);
  if (version == nullptr) return Sender{.era = Era::legacy};
  if (!version->is_string()) {
    return Problem{kInvalidParams, std::string{kVersionKey} + " is a text"};
  }
  if (version->as_string() != kModernVersion) {
    return Problem{kUnsupportedVersion,
                   "this version is not served: " + std::string{version->as_string()},
                   {{"supported", json::array{kModernVersion}}, {"requested", *version}}};
  }
  const json::object* const declared = object_at(*meta, kCapabilitiesKey);
  if (declared == nullptr) {
    return Problem{kInvalidParams, std::string{kCapabilitiesKey} + " is missing, or no object"};
  }
  return Sender{.era = Era::modern, .can_elicit = can_elicit(*declared)};
}

bool can_elicit(const json::object& capabilities) {
  const json::object* const elicitation = object_at(capabilities, "elicitation");
  if (elicitation == nullptr) return false;
  // One that says nothing more means forms: there was nothing else once.
  return elicitation->empty() || object_at(*elicitation, "form") != nullptr;
}

bool is_legacy_version(std::string_view version) {
  return std::ranges::find(kLegacyVersions, version) != kLegacyVersions.end();
}

std::string_view legacy_version(std::string_view wanted) {
  const auto found = std::ranges::find(kLegacyVersions, wanted);
  return found == kLegacyVersions.end() ? kNewestLegacyVersion : *found;
}

std::optional<json::value> progress_token(const json::object& params) {
  const json::object* const meta = object_at(params, "_meta");
  const json::value* const token = meta == nullptr ? nullptr : meta->if_contains("progressToken");
  if (token == nullptr || token->is_null()) return std::nullopt;
  return *token;
}

json::object initialize_result(const ServerFacts& facts, std::string_view version) {
  return {{"protocolVersion", version},
          {"capabilities", capabilities()},
          {"serverInfo", server_info(facts)},
          {"instructions", facts.instructions}};
}

json::object discover_result(const ServerFacts& facts) {
  return cacheable({{"supportedVersions", json::array{kModernVersion}},
                    {"capabilities", capabilities()},
                    {"instructions", facts.instructions}});
}

json::object modern_result(const ServerFacts& facts, json::object result, std::string_view type) {
  result["resultType"] = type;
  result["_meta"] = json::object{{kServerKey, server_info(facts)}};
  return result;
}

json::object cacheable(json::object result) {
  result["ttlMs"] = kKeepMilliseconds;
  result["cacheScope"] = "private";
  return result;
}

}  // namespace cordon::mcp::server
