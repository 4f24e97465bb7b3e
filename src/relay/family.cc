// SPDX-License-Identifier: Apache-2.0
#include "relay/family.h"

namespace cordon::relay {
namespace {

// As long as the kernel's own name of a thread.
constexpr std::size_t kLongestCommand = 15;

const Family::Member kStranger;

}  // namespace

void Family::born(std::uint32_t made, std::uint32_t by) {
  if (made == by || made == 0) return;
  if (members_.size() >= kMostMembers && !members_.contains(made)) return;
  const std::string command = about(by).command;
  members_.insert_or_assign(made, Member{.parent = by, .command = command});
}

void Family::runs(std::uint32_t pid, std::string_view program) {
  if (members_.size() >= kMostMembers && !members_.contains(pid)) return;
  const std::string_view name = program.substr(program.rfind('/') + 1);
  members_[pid].command = name.substr(0, kLongestCommand);
}

const Family::Member& Family::about(std::uint32_t pid) const {
  const auto found = members_.find(pid);
  return found == members_.end() ? kStranger : found->second;
}

}  // namespace cordon::relay
