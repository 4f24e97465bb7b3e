// SPDX-License-Identifier: Apache-2.0
// What clients are told of trees: one that was made, and what changes in one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::wire {

std::string tree_json(std::uint64_t entries, std::uint64_t bytes);

// A change below a path that is watched.
struct WatchAnswer {
  std::string_view event;  // "made", "changed", "attributes", "removed", "moved_away", "moved_here"
  std::string_view name;   // relative; empty: what is watched itself
  bool is_directory = false;
  std::uint32_t move = 0;  // the same in both names of one that was moved; 0: not known
};
// Each a line of JSON with its newline.
std::string watch_line(const WatchAnswer& change);
// "watching", "lost", "end", "ping".
std::string watch_mark_line(std::string_view event);

}  // namespace cordon::wire
