// SPDX-License-Identifier: Apache-2.0
// The credentials section: grants, each bound to a host and a header.
#include <algorithm>

#include <fmt/format.h>

#include "policy/parse_sections.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

// Headers that say where a message ends or goes: a secret in one of them could redirect it.
constexpr std::string_view kFraming[] = {"connection", "content-length",    "expect",
                                         "host",       "keep-alive",        "te",
                                         "trailer",    "transfer-encoding", "upgrade"};

void check_header(const Section& section, const std::string& header) {
  const auto colon = header.find(": ");
  const std::string name = colon == std::string::npos ? std::string{} : header.substr(0, colon);
  const bool token = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!token || !header.substr(colon + 2).contains("{secret}")) {
    section.problem("header",
                    fmt::format("`header`: {} must be \"Name: value\" with {{secret}} in the value",
                                quoted(header)));
    return;
  }
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (lower.starts_with("proxy-") || std::ranges::find(kFraming, lower) != std::end(kFraming)) {
    section.problem("header", fmt::format("`header`: {} says how or where a message travels; a "
                                          "secret has no place in it",
                                          quoted(name)));
  }
}

Grant parse_grant(const Section& section) {
  constexpr std::string_view kItem = "a [[credentials.grants]]";
  Grant grant;
  grant.place = section.place();
  grant.name = section.required("name", kItem);
  if (auto env = section.text("env")) grant.env = std::move(env->value);
  if (!grant.env.empty() && !is_variable_name(grant.env)) {
    section.problem(
        "env", fmt::format("`env`: {} is no variable name (A-Z, a-z, 0-9, _)", quoted(grant.env)));
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
            quoted(from)));
  }
  if (const std::string host = section.required("host", kItem); !host.empty()) {
    auto pattern = parse_host_pattern(host);
    if (!pattern) {
      section.problem("host", fmt::format("`host`: {}", pattern.error().text()));
    } else if (pattern->wildcard || pattern->address) {
      section.problem(
          "host", fmt::format("`host`: a secret goes to one named host, not to {}", quoted(host)));
    } else {
      grant.host = *std::move(pattern);
    }
  }
  grant.header = section.required("header", kItem);
  if (!grant.header.empty()) check_header(section, grant.header);
  grant.methods = section.plain_texts("methods");
  grant.paths = parse_url_paths(section);
  if (const auto ttl = section.integer("ttl_seconds")) grant.ttl_seconds = ttl->value;
  if (grant.name.size() > 64) {
    section.problem("name", fmt::format("`name`: {} is longer than 64 bytes", quoted(grant.name)));
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
                                       quoted(grant.name), twin->place.mark.line));
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
