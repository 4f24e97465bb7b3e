// SPDX-License-Identifier: Apache-2.0
// What a machine's kernel needs before it has a file tree: its own files, drivers, ports.
#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// All that its own file systems show, and where control groups are made.
Status mount_kernel_files();

// Those of /modules, in the order of /modules/order.
Status load_modules();
// A control group for the sandbox, and what lists its processes.
inline constexpr const char* kGroup = "/groups/sandbox";
inline constexpr const char* kGroupProcesses = "/groups/sandbox/cgroup.procs";
Status make_group();

// Who takes all memory is ended, instead of everybody's programs being thrown out and read again
// for minutes. A kernel that cannot do it goes on as it does.
void end_before_thrashing();

// The port of that name, which does not block; waits until it is there.
Result<os::Fd> open_port(std::string_view name);

}  // namespace cordon::guest
