// SPDX-License-Identifier: Apache-2.0
// The flags of `cordon run` and its relatives, and the policy that they spell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace cordon::cli {

struct RunOptions {
  std::string policy;  // a file
  std::string preset;
  std::string workspace;  // a directory; empty: the current one
  std::vector<std::string> allow_read;
  std::vector<std::string> allow_write;
  std::vector<std::string> allow_net;  // HOST, HOST:PORT or a registry such as @npm
  std::vector<std::string> host_ports;
  std::vector<std::string> hide;
  std::vector<std::string> protect;
  std::vector<std::string> environment;  // NAME or NAME=value
  std::string memory, disk, output, io;
  std::string time, cpu_time;  // "90", "90s", "10m", "2h"
  std::string cpus, pids, inodes, open_files;
  std::string root;
  std::string user;
  std::string profile;
  std::string isolation;  // may only strengthen what a file says
  std::string require;    // a level
  std::string json;       // a file for the report
  bool review = false;
  bool live = false;
  bool no_network = false;
  bool no_monitor = false;
  bool public_network = false;
  bool read_only = false;
  bool raw = false;
  bool quiet = false;
  // Of `cordon mcp wrap`: what [tools.NAME] of the flags says, under which name; empty: nobody
  // stands between the command and whoever calls its tools.
  std::string tool_server;
  std::vector<std::string> allow_tools, ask_tools, deny_tools;
  std::vector<std::string> typed_as = {"cordon", "run"};
  std::vector<std::string> command;  // empty: each comes later
};

void add_run_flags(CLI::App& verb, RunOptions& options);

// The part of the policy that the flags state, as a document's TOML text; paths made absolute from
// `directory`. `invalid`: a value that has no meaning.
Result<std::string> policy_of_flags(const RunOptions& options, const std::string& directory);

// Seconds of "90", "90s", "10m", "2h", "1d".
Result<std::uint64_t> parse_duration(const std::string& text);

// How the flags were typed, without the command: for refusals that repeat them with one more.
std::string typed_flags(const RunOptions& options);
// The same, word by word.
std::vector<std::string> typed_words(const RunOptions& options);

}  // namespace cordon::cli
