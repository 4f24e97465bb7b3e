// SPDX-License-Identifier: Apache-2.0
// A question to a policy in words, as `cordon policy why` and policy tests ask it.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "policy/explain.h"

namespace cordon::cli {

// Owns what the query of the policy engine only views.
struct PathWords {
  policy::Access access = policy::Access::read;
  std::string path;
  std::string workspace;
};
struct NetWords {
  std::string host;
  std::uint16_t port = 443;
  std::string method;
  std::string path;
};
struct ToolWords {
  std::string server;
  std::string tool;
  std::string arguments;
};
using QueryWords = std::variant<PathWords, NetWords, ToolWords>;

// What words are relative to.
struct Surroundings {
  std::string home;       // for "~"
  std::string directory;  // for relative paths
  std::string workspace;  // where the workspace is, for policies that do not say it
};

// "read PATH", "write PATH", "exec PATH", "net HOST[:PORT] [METHOD PATH]", "tool SERVER/TOOL
// [ARGUMENTS]".
Result<QueryWords> query_from(std::span<const std::string> words, const Surroundings& around);

// The same in one line, separated by blanks; the arguments of a tool are the rest of the line.
Result<QueryWords> query_from_line(const std::string& line, const Surroundings& around);

policy::Explanation explain(const policy::Policy& policy, const QueryWords& query);

}  // namespace cordon::cli
