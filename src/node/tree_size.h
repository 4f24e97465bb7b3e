// SPDX-License-Identifier: Apache-2.0
// How much a directory takes on its disk, counted in small steps.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "os/fd.h"

namespace cordon::node {

// Counts round after round. Follows no link; a file with several names counts once. What cannot be
// read, lies too deep or comes after plan::kMostCounted entries is left out, so that a total is
// never too large.
class TreeSize {
 public:
  explicit TreeSize(std::string path) : path_{std::move(path)} {}

  // Goes on until `late`, or until a round ends: true, and `total` is its result. The next call
  // begins a new round.
  bool step(Ticks late);

  std::uint64_t total() const noexcept { return total_; }
  bool complete() const noexcept { return complete_; }  // false: something was left out

 private:
  struct Level {
    os::Fd dir;
    std::vector<std::string> names;
    std::size_t next = 0;
  };
  void begin();
  void enter(os::Fd dir);
  void count_one();

  std::string path_;
  std::vector<Level> levels_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_;  // device and inode
  std::size_t entries_ = 0;
  std::uint64_t total_ = 0;
  bool complete_ = true;
};

}  // namespace cordon::node
