// SPDX-License-Identifier: Apache-2.0
// How long to wait before the next attempt: longer each time, and not all at the same moment.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace cordon::etcd {

class Pause {
 public:
  static constexpr std::chrono::milliseconds kFirst{50};
  static constexpr std::chrono::milliseconds kLongest{1000};

  explicit Pause(std::uint32_t seed = std::random_device{}()) : random_{seed} {}

  // Between half of what is due and all of it.
  std::chrono::milliseconds next() {
    const auto due = due_;
    due_ = std::min(due_ * 2, kLongest);
    return std::chrono::milliseconds{
        std::uniform_int_distribution<std::int64_t>{due.count() / 2, due.count()}(random_)};
  }
  void reset() noexcept { due_ = kFirst; }

 private:
  std::minstd_rand random_;
  std::chrono::milliseconds due_ = kFirst;
};

}  // namespace cordon::etcd
