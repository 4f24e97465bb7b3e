// SPDX-License-Identifier: Apache-2.0
// What clients ask of processes, and what they are told of them. (pure)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/e2b/message.h"
#include "base/result.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {

struct TerminalWanted {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
  friend bool operator==(const TerminalWanted&, const TerminalWanted&) = default;
};

struct ProcessConfig {
  std::string command;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;
  std::string directory;  // empty: none was named
  friend bool operator==(const ProcessConfig&, const ProcessConfig&) = default;
};

struct StartMessage {
  ProcessConfig config;
  std::optional<TerminalWanted> terminal;
  std::string tag;  // empty: none
  bool has_input = true;
};
Result<StartMessage> read_start(std::string_view json);

// A process that is meant: by what its client was told of it.
using Selector = std::variant<std::uint32_t, std::string>;  // its pid, or its tag
Result<Selector> read_selector(const Message& message);
Result<std::optional<TerminalWanted>> read_terminal(const Message& message);

// "SIGNAL_SIGKILL", or its number. `invalid`: neither of the two that may be sent.
Result<int> read_signal(const Message& message);

std::string start_event(std::uint32_t pid);
std::string keepalive_event();
// `stream`: "stdout", "stderr" or "pty".
std::string data_event(std::string_view stream, std::string_view bytes);
struct ProcessEnd {
  bool by_signal = false;
  std::uint32_t value = 0;
};
std::string end_event(const ProcessEnd& end);

struct ListedProcess {
  ProcessConfig config;
  std::uint32_t pid = 0;
  std::string tag;
};
std::string to_json(const std::vector<ListedProcess>& processes);

}  // namespace cordon::api::e2b
