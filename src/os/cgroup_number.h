// SPDX-License-Identifier: Apache-2.0
// The number by which the kernel tells control groups of version 2 apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cordon::os {

// Of the first of `directories` that is such a group; nothing: none is.
std::optional<std::uint64_t> cgroup_number(std::span<const std::string> directories);

}  // namespace cordon::os
