// SPDX-License-Identifier: Apache-2.0
// Processes inside, as their clones, execs and ends were told: whose child each is, and what it
// runs. A record of what was heard: what was not heard is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cordon::relay {

class Family {
 public:
  struct Member {
    std::uint32_t parent = 0;  // 0: not known
    std::string command;       // the last name of its program; empty: not known
  };
  // More are not remembered.
  static constexpr std::size_t kMostMembers = std::size_t{1} << 16U;

  // A process that makes a thread makes nobody.
  void born(std::uint32_t made, std::uint32_t by);
  void runs(std::uint32_t pid, std::string_view program);
  void ended(std::uint32_t pid) { members_.erase(pid); }

  const Member& about(std::uint32_t pid) const;

 private:
  std::unordered_map<std::uint32_t, Member> members_;
};

}  // namespace cordon::relay
