// SPDX-License-Identifier: Apache-2.0
// What `cordon exec` and `cordon attach` were asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/node_client.h"

namespace cordon::cli {

struct ExecOrder {
  std::string sandbox;                     // its id
  std::string start{};                     // the body of the request that starts the process
  std::optional<std::uint32_t> process{};  // or the number of one that was started already
  bool interactive = false;
  bool raw = false;
  std::chrono::seconds patience{30};
  NodeOptions options{};
};

}  // namespace cordon::cli
