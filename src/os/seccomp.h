// SPDX-License-Identifier: Apache-2.0
// Loading a seccomp filter, and answering the calls that it hands to a supervisor.
#pragma once

#include <array>
#include <cstdint>
#include <linux/filter.h>
#include <span>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct SeccompFlags {
  bool all_threads = false;  // TSYNC: bind every thread of the process, or none
  bool log = false;          // actions other than allow reach the audit log
  bool wait_killable =
      false;  // a caller that waits for an answer ends only by fatal signals (5.19)
};

// Binds the calling thread, and all that it starts, for good. Before: no_new_privs, or
// CAP_SYS_ADMIN in the caller's user namespace. Later filters add to it and take nothing back.
Status seccomp_load(std::span<const sock_filter> program, const SeccompFlags& flags = {});

// The same, and gives the listener that gets the calls of action USER_NOTIF. A process has one
// listener at most (exists, EBUSY). When every copy of the listener is closed those calls fail with
// ENOSYS.
Result<Fd> seccomp_load_with_listener(std::span<const sock_filter> program,
                                      const SeccompFlags& flags = {});

// A call that waits for an answer. Pointers in `arguments` may be re-read by nobody for a decision:
// another thread of the caller can change what they point to.
struct SeccompNotification {
  std::uint64_t id = 0;
  pid_t pid = 0;  // in our pid namespace; 0 when it is not visible there
  int number = 0;
  std::uint32_t arch = 0;
  std::array<std::uint64_t, 6> arguments{};
};

// Waits for the next call. `not_found`: the caller died before we could read it; go on. The
// listener polls readable when there is one, and hangs up when no process with the filter is left.
Result<SeccompNotification> seccomp_receive(const Fd& listener);

// True while the caller still waits. What was learnt about `pid` since seccomp_receive counts only
// if this is asked afterwards and is true.
bool seccomp_id_valid(const Fd& listener, std::uint64_t id);

// Answers. `not_found`: the caller is gone.
Status seccomp_respond_error(const Fd& listener, std::uint64_t id, int error_number);
Status seccomp_respond_value(const Fd& listener, std::uint64_t id, std::int64_t value);
// Lets the kernel run the call. Never as a decision on what a pointer shows, see above.
Status seccomp_respond_continue(const Fd& listener, std::uint64_t id);
// Puts a copy of `fd` into the caller, CLOEXEC as asked, and makes its number the call's result.
Status seccomp_respond_fd(const Fd& listener, std::uint64_t id, const Fd& fd, bool cloexec);

// Caller and supervisor are woken on one processor (6.6; `invalid` before).
Status seccomp_set_sync_wake_up(const Fd& listener);

}  // namespace cordon::os
