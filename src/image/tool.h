// SPDX-License-Identifier: Apache-2.0
// Programs of others that we start and wait for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::image {

struct Tool {
  std::string program;                 // absolute
  std::vector<std::string> arguments;  // with its own name
  std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"};
};

// A tool at its work, whose output somebody else reads.
class RunningTool {
 public:
  // `out`: where its output goes; nothing: to what it says.
  static Result<RunningTool> start(const Tool& tool, const os::Fd* out);
  // Its last words are the error's where it did not end well.
  Status end() &&;

 private:
  RunningTool(std::string name, os::Child child, os::Fd words)
      : name_{std::move(name)}, child_{std::move(child)}, words_{std::move(words)} {}
  std::string name_;
  os::Child child_;
  os::Fd words_;
};

Status run_tool(const Tool& tool);

}  // namespace cordon::image
