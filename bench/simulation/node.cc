// SPDX-License-Identifier: Apache-2.0
#include "simulation/node.h"

#include <utility>

#include <fmt/format.h>

namespace cordon::simulation {

std::vector<std::uint32_t> Node::die() {
  is_up_ = false;
  used_ = 0;
  written.reset();
  return std::exchange(of_tenant_, std::vector<std::uint32_t>(of_tenant_.size()));
}

fleet::Summary Node::summary() {
  return {.address = fmt::format("10.{}.{}.{}:7070", id_.cell, id_.node / 250, id_.node % 250 + 1),
          .gauge = gauge()};
}

}  // namespace cordon::simulation
