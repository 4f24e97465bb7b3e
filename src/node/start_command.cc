// SPDX-License-Identifier: Apache-2.0
#include "node/start_command.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace cordon::node {

sandbox::Command command_of(wire::StartRequest start, const plan::Lowered& lowered) {
  sandbox::Command command{.arguments = std::move(start.command),
                           .environment = lowered.environment,
                           .directory = lowered.directory};
  if (const auto size = start.terminal) command.terminal = {size->rows, size->columns};
  if (!start.directory.empty()) command.directory = std::move(start.directory);
  std::erase_if(command.environment, [&](const std::string& variable) {
    return start.environment.contains(variable.substr(0, variable.find('=')));
  });
  for (const auto& [name, value] : start.environment) {
    command.environment.push_back(fmt::format("{}={}", name, value));
  }
  return command;
}

std::string program_of(const sandbox::Command& command) {
  const std::string& path = command.arguments.front();
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace cordon::node
