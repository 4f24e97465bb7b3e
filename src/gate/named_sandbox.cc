// SPDX-License-Identifier: Apache-2.0
#include "gate/named_sandbox.h"

#include <algorithm>
#include <array>

#include "base/id.h"

namespace cordon::gate {
namespace {

constexpr std::string_view kSandboxField = "E2b-Sandbox-Id";
constexpr std::string_view kPortField = "E2b-Sandbox-Port";

// Where paths of theirs begin; what this face does not have of them it refuses in its own words.
constexpr std::array<std::string_view, 8> kTops = {"/sandboxes", "/v2/sandboxes", "/snapshots",
                                                   "/templates", "/v2/templates", "/v3/templates",
                                                   "/volumes",   "/secrets"};

bool is_below(std::string_view path, std::string_view top) {
  return path == top || (path.starts_with(top) && path[top.size()] == '/');
}

// Of a host that names a port of a sandbox: "3000-ID.any.domain".
std::optional<NamedSandbox> host_place(const http::RequestHead& head) {
  const std::string& host = head.host.host;
  const std::size_t dot = host.find('.');
  const std::size_t hyphen = host.find('-');
  if (dot == std::string::npos || hyphen >= dot || hyphen == 0) return std::nullopt;
  NamedSandbox place{.sandbox = host.substr(hyphen + 1, dot - hyphen - 1),
                     .port = host.substr(0, hyphen)};
  if (place.port.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  // What follows a further hyphen is for nobody.
  place.sandbox = place.sandbox.substr(0, place.sandbox.find('-'));
  return SandboxId::parse(place.sandbox) ? std::optional{place} : std::nullopt;
}

}  // namespace

bool is_for_e2b(const http::RequestHead& head) {
  if (http::count(head.fields, kSandboxField) > 0 || host_place(head)) return true;
  const std::string& path = head.target.path;
  return path == kSignedPath ||
         std::ranges::any_of(kTops, [&](std::string_view top) { return is_below(path, top); });
}

std::optional<NamedSandbox> named_sandbox(const http::RequestHead& head) {
  if (auto place = host_place(head)) return place;
  if (http::count(head.fields, kSandboxField) == 0) return std::nullopt;
  return NamedSandbox{.sandbox = std::string{http::only(head.fields, kSandboxField).value_or("")},
                      .port = std::string{http::only(head.fields, kPortField).value_or("")}};
}

}  // namespace cordon::gate
