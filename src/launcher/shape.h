// SPDX-License-Identifier: Apache-2.0
// What a sandbox looks like, apart from whose it is: two plans of one shape can be served by the
// same sandbox, made whole before either came.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <sys/types.h>
#include <vector>

#include "launcher/floor.h"
#include "launcher/floor_sources.h"

namespace cordon::launcher {

// All of a plan but its id and its tenant.
class Shape {
 public:
  // Nothing: what the plan shows may be written by others, and is looked at when it is asked for.
  static std::optional<Shape> of(const JudgedPlan& plan);
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  explicit Shape(std::vector<std::byte> text) : text_{std::move(text)} {}
  std::vector<std::byte> text_;
};

// What a plan's sources are on the host now. Where that has changed, a tree that was furnished
// before shows what has been replaced since.
class SourceMarks {
 public:
  static SourceMarks of(const frame::LaunchPlan& plan, const FloorSources& floor);
  friend bool operator==(const SourceMarks&, const SourceMarks&) = default;

 private:
  struct Mark {
    dev_t device = 0;  // all 0: there is nothing
    ino_t inode = 0;
    // Of the root, whose entries are shown one by one, and of links, which are shown as new ones.
    time_t seconds = 0;
    long nanoseconds = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  void add(const std::string& path, bool is_root, const FloorSources& floor);

  std::vector<Mark> marks_;
};

}  // namespace cordon::launcher
