// SPDX-License-Identifier: Apache-2.0
#include "plan/trust.h"

#include <algorithm>

#include <fmt/format.h>

namespace cordon::plan {
namespace {

constexpr std::string_view kBundle = "/etc/cordon-authorities.pem";
// Where clients look: OpenSSL and all that use it, curl, git, Python's requests, Node, pip, Cargo,
// the AWS tools, Deno.
constexpr std::string_view kVariables[] = {
    "SSL_CERT_FILE",      "CURL_CA_BUNDLE",      "GIT_SSL_CAINFO",
    "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT",
    "CARGO_HTTP_CAINFO",  "AWS_CA_BUNDLE",       "DENO_CERT"};

}  // namespace

void add_variable(Lowered& lowered, std::string_view name, std::string_view value) {
  const std::string front = fmt::format("{}=", name);
  const bool set = std::ranges::any_of(
      lowered.environment, [&](const std::string& line) { return line.starts_with(front); });
  if (!set) lowered.environment.push_back(front + std::string{value});
}

void add_authorities(Lowered& lowered, const std::string& bundle, const std::string& system) {
  lowered.plan.binds.push_back({.source = bundle, .target = std::string{kBundle}});
  // An image need not have a bundle where the host has its own.
  const bool is_host = lowered.plan.root == frame::RootSource::host;
  if (is_host && !system.empty())
    lowered.plan.binds.push_back({.source = bundle, .target = system});
  for (const std::string_view name : kVariables) add_variable(lowered, name, kBundle);
}

}  // namespace cordon::plan
