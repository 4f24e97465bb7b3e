// SPDX-License-Identifier: Apache-2.0
// A sandbox in small: cordon-init as pid 1 of new user, mount, pid and ipc namespaces.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "frame/guest.h"
#include "guest/test_host.h"
#include "os/process.h"

namespace cordon::guest {

inline constexpr std::uint32_t kInitId = 999;       // inside
inline constexpr std::uint32_t kWorkloadId = 1000;  // inside

// Fences of a workload: the strict filter, no capability, Landlock as far as the kernel has it.
frame::Setup standard_setup();

// Its end kills all.
struct Sandbox {
  os::Child init;
  std::unique_ptr<TestHost> host;
};
enum class Ids : std::uint8_t {
  range,  // pid 1 has another id than the workload
  one,    // only one can be mapped, and setgroups is denied
};
Result<Sandbox> launch(const frame::Setup& setup, Ids ids = Ids::range);

// The step that kept a guest from beginning.
inline std::string why_not(TestHost& host) {
  const auto& failures = host.heard[0].failures;
  if (failures.empty()) return "it said nothing";
  return failures[0].step + " " + std::to_string(failures[0].error_number);
}

}  // namespace cordon::guest
