// SPDX-License-Identifier: Apache-2.0
// How `hide` and `protect` are held: by mounts over what exists, by placeholders where there is a
// layer of our own, and else not at all, which is refused.
#pragma once

#include <vector>

#include "plan/files.h"

namespace cordon::plan {

std::vector<frame::Pin> pins_of(const Request& request, const Root& root, const Files& files,
                                const std::vector<frame::Bind>& mounts);

}  // namespace cordon::plan
