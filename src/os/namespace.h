// SPDX-License-Identifier: Apache-2.0
// Namespaces: a typed set of kinds, making them, entering them, naming them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <linux/sched.h>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class Ns : std::uint32_t {
  user = CLONE_NEWUSER,
  mount = CLONE_NEWNS,
  pid = CLONE_NEWPID,
  net = CLONE_NEWNET,
  ipc = CLONE_NEWIPC,
  uts = CLONE_NEWUTS,
  cgroup = CLONE_NEWCGROUP,
  time = CLONE_NEWTIME,
};
std::string_view to_string(Ns kind) noexcept;  // as in /proc/PID/ns: "mnt", "net"

class NsSet {
 public:
  constexpr NsSet() noexcept = default;
  constexpr NsSet(Ns kind) noexcept : flags_{static_cast<std::uint32_t>(kind)} {}
  constexpr NsSet(std::initializer_list<Ns> kinds) noexcept {
    for (const Ns kind : kinds) flags_ |= static_cast<std::uint32_t>(kind);
  }

  constexpr bool has(Ns kind) const noexcept {
    return (flags_ & static_cast<std::uint32_t>(kind)) != 0;
  }
  constexpr bool empty() const noexcept { return flags_ == 0; }
  constexpr std::uint32_t flags() const noexcept { return flags_; }  // CLONE_NEW…

  friend constexpr bool operator==(NsSet, NsSet) noexcept = default;

 private:
  std::uint32_t flags_ = 0;
};

// Moves the caller into new namespaces; a new pid or time namespace takes only its later children.
// The kernel makes the user namespace first, so that the others belong to it. A caller with several
// threads cannot unshare user, and a caller that shares its root (CLONE_FS) neither.
Status unshare(NsSet kinds);

// Enters the namespace behind `ns`, which must be of the one kind given; or, when `ns` is a pidfd,
// all the given kinds of that process at once.
Status setns(const Fd& ns, NsSet kinds);

// The namespace of a process; pid 0 means the caller.
Result<Fd> open_ns(Ns kind, pid_t pid = 0);

// Two descriptors show the same namespace exactly when this is equal, as long as one is open.
Result<std::uint64_t> ns_id(const Fd& ns);

// Sets the name in the caller's uts namespace.
Status sethostname(std::string_view name);

}  // namespace cordon::os
