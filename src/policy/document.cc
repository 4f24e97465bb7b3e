// SPDX-License-Identifier: Apache-2.0
#include "policy/document.h"

#include <fmt/format.h>

namespace cordon::policy {

std::string_view to_string(Mode mode) noexcept {
  return mode == Mode::read_only ? "read_only" : "read_write";
}

std::string_view to_string(NetworkMode mode) noexcept {
  switch (mode) {
    case NetworkMode::none:
      return "none";
    case NetworkMode::restricted:
      return "restricted";
    case NetworkMode::public_:
      return "public";
  }
  return "none";
}

std::string_view to_string(Protocol protocol) noexcept {
  switch (protocol) {
    case Protocol::tls:
      return "tls";
    case Protocol::http:
      return "http";
    case Protocol::tcp:
      return "tcp";
  }
  return "tcp";
}

std::string_view to_string(User user) noexcept {
  switch (user) {
    case User::user:
      return "user";
    case User::root:
      return "root";
    case User::either:
      return "either";
  }
  return "user";
}

std::string_view to_string(Profile profile) noexcept {
  return profile == Profile::strict ? "strict" : "compat";
}

std::string_view to_string(RootKind kind) noexcept {
  switch (kind) {
    case RootKind::host:
      return "host";
    case RootKind::dir:
      return "dir";
    case RootKind::image:
      return "image";
  }
  return "host";
}

std::string_view to_string(SecretSource source) noexcept {
  switch (source) {
    case SecretSource::env:
      return "env";
    case SecretSource::file:
      return "file";
    case SecretSource::cmd:
      return "cmd";
    case SecretSource::secret:
      return "secret";
  }
  return "secret";
}

std::string_view to_string(Effect effect) noexcept {
  switch (effect) {
    case Effect::deny:
      return "deny";
    case Effect::ask:
      return "ask";
    case Effect::allow:
      return "allow";
  }
  return "deny";
}

std::string to_string(const PolicyDocument& document, Place place) {
  const std::string& name = document.sources[place.source].name;
  return place.mark.line == 0 ? name : fmt::format("{}:{}", name, place.mark.line);
}

}  // namespace cordon::policy
