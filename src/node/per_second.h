// SPDX-License-Identifier: Apache-2.0
// So many of each second, and no more: for records of what somebody else chooses the number of.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace cordon::node {

class PerSecond {
 public:
  explicit PerSecond(std::size_t most) noexcept : most_{most} {}

  // True where `now` lies in another second than the call before: all of it is free again.
  bool begins(Ticks now) noexcept {
    const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    if (second == second_) return false;
    second_ = second;
    taken_ = 0;
    return true;
  }
  // False: this second has had its share.
  bool take() noexcept {
    if (taken_ == most_) return false;
    ++taken_;
    return true;
  }

 private:
  std::size_t most_;
  std::int64_t second_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace cordon::node
