// SPDX-License-Identifier: Apache-2.0
// What cordon-broker gives up before it hears the first word.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace cordon::broker {

struct ConfineStep {
  std::string_view name;
  Status (*take)();
};

// The order is the argument: each line gives up what the lines below no longer need.
std::span<const ConfineStep> confine_steps();

// Takes all of them; an Error names the step, and the program must not go on. For a process of one
// thread, once, for good. Before: it has all the descriptors that it needs, from 3 on.
Status confine();

}  // namespace cordon::broker
