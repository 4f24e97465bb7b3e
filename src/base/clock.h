// SPDX-License-Identifier: Apache-2.0
// Time as a parameter, so that no test waits for it.
#pragma once

#include <chrono>

namespace cordon {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;
using Ticks = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;  // for records; may jump
  virtual Ticks ticks() const = 0;    // for deadlines; never jumps
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now());
  }
  Ticks ticks() const override { return std::chrono::steady_clock::now(); }
};

// Moves only when told to. For tests and replays.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start) : wall_{start} {}
  WallTime wall() const override { return wall_; }
  Ticks ticks() const override { return ticks_; }
  void advance(std::chrono::milliseconds by) {
    wall_ += by;
    ticks_ += by;
  }

 private:
  WallTime wall_;
  Ticks ticks_{};
};

}  // namespace cordon
