// SPDX-License-Identifier: Apache-2.0
// What can be hidden from a program, and the kernel's answers that hide it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cordon::mask {

struct Masks {
  // Answered in the tracer, call by call.
  bool no_userns = false;
  bool no_netns = false;
  bool no_landlock = false;
  int landlock_abi = 0;  // 0: as it is
  bool no_seccomp = false;
  bool no_seccomp_notify = false;
  bool no_overlay = false;
  bool no_mount_api = false;
  bool no_idmap = false;
  bool no_pidfd = false;
  bool no_openat2 = false;
  bool hang_openat2 = false;
  bool no_nftables = false;
  // Set up once, before the command runs.
  bool no_cgroup_write = false;
  bool cgroup_v2_only = false;
  bool userns_limit_0 = false;
  std::string sub_ids;  // not a mask: what /etc/subuid and /etc/subgid seem to say
  std::optional<std::uint64_t> fds;
  std::optional<uid_t> user;

  std::vector<std::string> command;
};

// A system call at its entry, as the tracer sees it.
struct Call {
  pid_t pid = 0;
  long number = 0;
  std::uint64_t args[6] = {};
};

struct Answer {
  enum class Kind : std::uint8_t { pass, reply, hang } kind = Kind::pass;
  long value = 0;  // of `reply`: a result, or a negative errno
};

// The numbers of the calls that `answer` may want to see.
std::vector<long> watched_calls(const Masks& masks);

Answer answer(const Masks& masks, const Call& call);

}  // namespace cordon::mask
