// SPDX-License-Identifier: Apache-2.0
// A plan as runsc reads it: its command line and its bundle. (pure)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/launch_plan.h"

namespace cordon::launcher {

// Of the engine's own file tree.
inline constexpr const char* kEngineProgram = "/bin/runsc";
inline constexpr const char* kBundle = "/bundle";
inline constexpr const char* kSandboxTree = "/sandbox";
// Inside the sandbox's tree.
inline constexpr const char* kInitPlace = "/.cordon/init";

// As runsc calls it.
std::string_view word_of(frame::Platform platform) noexcept;

std::vector<std::string> runsc_arguments(const frame::LaunchPlan& plan);

// The text of config.json.
std::string runsc_bundle(const frame::LaunchPlan& plan);

}  // namespace cordon::launcher
