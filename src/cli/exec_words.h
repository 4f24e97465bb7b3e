// SPDX-License-Identifier: Apache-2.0
// From how a process or a sandbox of a node ended to the exit code of `cordon exec`. (pure)
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace cordon::cli {

// And the signal's number: the code of what a signal has ended.
inline constexpr int kOfSignal = 128;

// Of a process that has ended: its own code, or 128 and its signal.
int code_of_exit(const boost::json::value& process);

// Of one that never ran: 127 where there is no such program, else 126.
int code_of_failure(std::string_view failure);

struct SandboxEnd {
  int code = 0;
  std::string words;
};
// Of a sandbox that ended under its process.
SandboxEnd read_sandbox_end(const boost::json::value& sandbox);

}  // namespace cordon::cli
