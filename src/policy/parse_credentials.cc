// SPDX-License-Identifier: Apache-2.0
// The credentials section: grants, each bound to a host and a header.
#include <algorithm>

#include <fmt/format.h>

#include "policy/header_template.h"
#include "policy/parse_sections.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

Grant parse_grant(const Section& section) {
  constexpr std::string_view kItem = "a [[credentials.grants]]";
  Grant grant;
  grant.place = section.place();
  grant.name = section.required("name", kItem);
  if (auto env = section.text("env")) grant.env = std::move(env->value);
  if (!grant.env.empty() && !is_variable_name(grant.env)) {
    section.problem("env", fmt::format("`env`: {} is no variable name (A-Z, a-z, 0-9, _)",
                                       in_quotes(grant.env)));
  }
  const std::string from = section.required("from", kItem);
  bool known = from.empty();
  for (const SecretSource source :
       {SecretSource::env, SecretSource::file, SecretSource::cmd, SecretSource::secret}) {
    const std::string prefix = std::string{to_string(source)} + ':';
    if (!from.starts_with(prefix) || from.size() == prefix.size()) continue;
    grant.source = source;
    grant.from = from.substr(prefix.size());
    known = true;
  }
  if (!known) {
    section.problem(
        "from",
        fmt::format(
            "`from`: {} is not known; write \"env:NAME\", \"file:PATH\", \"cmd:COMMAND\" or "
            "\"secret:NAME\"",
            in_quotes(from)));
  }
  if (const std::string host = section.required("host", kItem); !host.empty()) {
    auto pattern = parse_host_pattern(host);
    if (!pattern) {
      section.problem("host", fmt::format("`host`: {}", pattern.error().text()));
    } else if (pattern->wildcard || pattern->address) {
      section.problem("host", fmt::format("`host`: a secret goes to one named host, not to {}",
                                          in_quotes(host)));
    } else {
      grant.host = *std::move(pattern);
    }
  }
  grant.header = section.required("header", kItem);
  if (!grant.header.empty()) {
    const auto parts = parse_header_template(grant.header);
    if (!parts) section.problem("header", fmt::format("`header`: {}", parts.error().text()));
  }
  grant.methods = section.plain_texts("methods");
  grant.paths = parse_url_paths(section);
  if (const auto ttl = section.integer("ttl_seconds")) grant.ttl_seconds = ttl->value;
  if (grant.name.size() > 64) {
    section.problem("name",
                    fmt::format("`name`: {} is longer than 64 bytes", in_quotes(grant.name)));
  }
  return grant;
}

}  // namespace

Credentials parse_credentials(const Section& section) {
  Credentials credentials;
  if (const auto mode = section.text("mode")) {
    credentials.mode = Stated{
        mode->value == "none" ? CredentialMode::none : CredentialMode::just_in_time, mode->place};
  }
  credentials.secret_scanning = section.boolean("secret_scanning");
  if (const Value* const grants = section.find("grants"))
    credentials.grants.place = Place{0, grants->mark};
  for (const Section& item : section.tables("grants")) {
    Grant grant = parse_grant(item);
    const auto twin = std::ranges::find(credentials.grants.items, grant.name, &Grant::name);
    if (twin != credentials.grants.items.end() && !grant.name.empty()) {
      item.problem("name", fmt::format("`name`: {} names a grant already, on line {}",
                                       in_quotes(grant.name), twin->place.mark.line));
    }
    credentials.grants.items.push_back(std::move(grant));
  }
  if (credentials.mode && credentials.mode->value == CredentialMode::none &&
      !credentials.grants.items.empty()) {
    section.problem("mode",
                    "`mode` = \"none\" uses no secret, but there are grants; say \"just_in_time\"");
  }
  return credentials;
}

}  // namespace cordon::policy
