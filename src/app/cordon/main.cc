// SPDX-License-Identifier: Apache-2.0
// cordon: the command on a developer's own machine.
#include <cstdlib>
#include <iostream>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  cordon::cli::Context context{
      .out = std::cout,
      .err = std::cerr,
      .environment = [](const std::string& name) -> std::optional<std::string> {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, before anything else runs
        const char* const value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>{value};
      },
  };
  return cordon::cli::run(argc, argv, context);
}
