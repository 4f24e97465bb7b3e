// SPDX-License-Identifier: Apache-2.0
// What a client of API v1 asks for: bounded and well formed, nothing more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/document.h"
#include "policy/problem.h"

namespace cordon::wire {

inline constexpr std::size_t kLargestRequest = std::size_t{1} << 20U;  // what is read of a body
inline constexpr std::size_t kMostArguments = 1024;
inline constexpr std::size_t kLongestArgument = std::size_t{128} << 10U;  // the kernel's own bound
inline constexpr std::size_t kMostVariables = 512;
inline constexpr std::size_t kMostLabels = 64;
inline constexpr std::size_t kLongestLabel = 128;  // of a name, and of a value
// In all, names and values: lists of a whole fleet have them in memory.
inline constexpr std::size_t kMostLabelBytes = std::size_t{4} << 10U;
inline constexpr std::int64_t kLongestLife = std::int64_t{30} * 24 * 3600;  // seconds

inline constexpr std::int64_t kMostTerminalSide = 4096;

struct TerminalSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

struct StartRequest {
  std::vector<std::string> command;                // at least the program
  std::map<std::string, std::string> environment;  // beside what the policy sets
  std::string directory;                           // inside; empty: the workspace
  std::string input;                               // all of standard input
  std::optional<TerminalSize> terminal{};          // in place of three streams
  friend bool operator==(const StartRequest&, const StartRequest&) = default;
};

struct CreateRequest {
  policy::PolicyDocument policy;  // not checked yet: that needs to know who asks
  std::map<std::string, std::string> labels;
  std::optional<std::uint64_t> timeout_seconds;  // of the sandbox
};

// POST /v1/run: one of each.
struct RunRequest {
  CreateRequest create;
  StartRequest start;
};

// PATCH of a sandbox: what is absent stays.
struct ChangeRequest {
  std::optional<std::uint64_t> timeout_seconds;  // from now
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<policy::PolicyDocument> policy;  // what it is narrowed by
  friend bool operator==(const ChangeRequest&, const ChangeRequest&) = default;
};

struct SignalRequest {
  std::uint8_t number = 0;
  bool to_group = false;
  friend bool operator==(const SignalRequest&, const SignalRequest&) = default;
};

// A token that is to be taken back; nothing: the one that asks.
struct RevokeRequest {
  std::optional<std::string> token;
};

// JSON. Strict: unknown and double keys, other kinds and whatever is out of bounds is refused, each
// with its line and what would be right, in `problems`.
Result<StartRequest> read_start_request(std::string_view text, policy::Problems& problems);
Result<CreateRequest> read_create_request(std::string_view text, policy::Problems& problems);
Result<RunRequest> read_run_request(std::string_view text, policy::Problems& problems);
Result<ChangeRequest> read_change_request(std::string_view text, policy::Problems& problems);
Result<RevokeRequest> read_revoke_request(std::string_view text, policy::Problems& problems);
Result<SignalRequest> read_signal_request(std::string_view text, policy::Problems& problems);

}  // namespace cordon::wire
