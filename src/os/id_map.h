// SPDX-License-Identifier: Apache-2.0
// User and group ids of a user namespace: who may be mapped, and mapping them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace cordon::os {

// `count` ids from `inside` on are `outside` and its successors in the parent namespace.
struct IdRange {
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  std::uint32_t count = 1;

  friend bool operator==(const IdRange&, const IdRange&) = default;
};

// "0 100000 65536\n…": the form of uid_map and gid_map.
std::string format_id_map(std::span<const IdRange> ranges);

// Write the maps of the process `pid`, once for each namespace. Before: the caller has
// CAP_SETUID/CAP_SETGID in the parent namespace, or maps nothing but its own id; for groups in the
// latter case deny_setgroups came first.
Status write_uid_map(pid_t pid, std::span<const IdRange> ranges);
Status write_gid_map(pid_t pid, std::span<const IdRange> ranges);
// Without it a process could drop a group that is there to refuse it something.
Status deny_setgroups(pid_t pid);

struct SubordinateIds {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  friend bool operator==(const SubordinateIds&, const SubordinateIds&) = default;
};

// The ranges that /etc/subuid or /etc/subgid (their text) grants to a user, by name or by number.
// Lines that are malformed or overflow 32 bits grant nothing.
std::vector<SubordinateIds> parse_subordinate_ids(std::string_view text, std::string_view name,
                                                  std::uint32_t id);

// Map through the set-user-id helpers at their fixed paths, which check the ranges against
// /etc/subuid and /etc/subgid. `unavailable`: they are not installed. Not to be called in a process
// with other children that someone reaps by wait(-1).
Status run_newuidmap(pid_t pid, std::span<const IdRange> ranges);
Status run_newgidmap(pid_t pid, std::span<const IdRange> ranges);

}  // namespace cordon::os
