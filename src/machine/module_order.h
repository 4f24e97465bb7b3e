// SPDX-License-Identifier: Apache-2.0
// Which drivers a machine's kernel loads, and in which order. (pure)
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::machine {

// Paths of modules as in `dependencies` (modules.dep), each after those that it needs. Those in
// `built_in` (modules.builtin) are left out; `not_found`: one is in neither.
Result<std::vector<std::string>> module_order(std::string_view dependencies,
                                              std::string_view built_in,
                                              std::span<const std::string_view> wanted);

// "kernel/fs/fuse/fuse.ko.xz" is fuse; of "-" and "_" they make no difference.
std::string module_name(std::string_view path);

}  // namespace cordon::machine
