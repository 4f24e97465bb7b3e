// SPDX-License-Identifier: Apache-2.0
// Which requests are in the words of E2B, and which sandbox such a one names by its host or a field
// (pure).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/head.h"

namespace cordon::gate {

// Files of a sandbox whose name only the signature tells.
inline constexpr std::string_view kSignedPath = "/files";

// All others are for API v1.
bool is_for_e2b(const http::RequestHead& head);

// Both as they were sent: a request that names one twice, or badly, names none that there is.
struct NamedSandbox {
  std::string sandbox;
  std::string port;
};
// Of a host "3000-ID.any.domain", or of the fields. Nothing: it is about no sandbox's inside.
std::optional<NamedSandbox> named_sandbox(const http::RequestHead& head);

}  // namespace cordon::gate
