// SPDX-License-Identifier: Apache-2.0
// cordon: the command on a developer's own machine.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  // A reader that has gone is an error of the write, not our death.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  cordon::cli::Context context{
      .out = std::cout,
      .err = std::cerr,
      .environment = [](const std::string& name) -> std::optional<std::string> {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, before anything else runs
        const char* const value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>{value};
      },
      .variables =
          [] {
            std::vector<std::pair<std::string, std::string>> all;
            for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
              const std::string_view entry = *at;
              const std::size_t equals = entry.find('=');
              if (equals == std::string_view::npos) continue;
              all.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
            }
            return all;
          },
  };
  return cordon::cli::run(argc, argv, context);
}
