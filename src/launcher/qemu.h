// SPDX-License-Identifier: Apache-2.0
// A plan as QEMU reads it: its command line. (pure)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/launch_plan.h"

namespace cordon::launcher {

// Of QEMU's own file tree.
inline constexpr const char* kQemuPlace = "/usr/bin/qemu-system-x86_64";

// Its descriptors. 0 is /dev/null, 1 and 2 are what it says.
enum QemuFd : std::uint8_t {
  kControlFd = 3,
  kFilesFd,
  kKernelFd,
  kInitramfsFd,
  kLinkFd,
  kMemoryFd,
  kMonitorFd
};

// How a machine begins.
enum class MachineStart : std::uint8_t {
  cold,  // with its kernel
  save,  // the same, on memory that outlives it: others will begin as it
  load,  // as one that was saved
};

// What machines that begin as each other have in common beside their memory and accelerator:
// changed with the command line, and with what a tree's server has told one before it was saved.
inline constexpr const char* kMachineShape = "cordon machine 4";

// `kilohertz`: of the host's time stamp counter, which a machine that is translated cannot measure.
std::vector<std::string> qemu_arguments(const frame::LaunchPlan& plan, MachineStart start,
                                        std::uint64_t kilohertz);

}  // namespace cordon::launcher
