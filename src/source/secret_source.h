// SPDX-License-Identifier: Apache-2.0
// Where a grant's secret comes from: read by its owner, at the moment it is handed to the broker.
// `cordon` is the owner in local use; of a service it is a program that the launcher starts for
// one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/wiped.h"
#include "policy/document.h"

namespace cordon::source {

inline constexpr std::chrono::seconds kCommandLimit{10};

// What the owner lives in.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<std::vector<std::string>()> environment;  // of a command: "NAME=value"
};

// What `from` names: a variable of the owner's, a file (absolute, or below ~), or what a command of
// /bin/sh prints; its error output is the owner's own. One newline at the end is taken off; what is
// left has 1 byte to 64 KiB and no character that a header may not have. Errors name the source,
// never a value, nor a command, in which one may stand.
Result<WipedBytes> read_secret(policy::SecretSource source, const std::string& from,
                               const Surroundings& surroundings,
                               std::chrono::milliseconds command_limit = kCommandLimit);

}  // namespace cordon::source
