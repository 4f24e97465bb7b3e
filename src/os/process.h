// SPDX-License-Identifier: Apache-2.0
// Making processes, and not leaving them behind.
#pragma once

#include <functional>
#include <optional>
#include <signal.h>
#include <span>
#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"
#include "os/namespace.h"
#include "os/pidfd.h"

namespace cordon::os {

struct CloneArgs {
  NsSet namespaces;
  const Fd* cgroup = nullptr;  // a v2 group's directory: the child starts in it
  int exit_signal = SIGCHLD;   // what the parent gets at the child's end; 0: nothing
  bool clear_signal_handlers = false;
};

struct Cloned {
  pid_t pid = 0;  // 0: this is the child
  Fd pidfd;       // in the parent only
};

// Returns twice, like fork. The child has one thread, so a caller with several must do nothing
// there but async-signal-safe calls: locks that another thread held stay locked for ever. Our
// callers that need more are single-threaded programs.
Result<Cloned> clone3(const CloneArgs& arguments);

// Owns a child: its end kills it and reaps it.
class Child {
 public:
  // Runs `body` in a new process, which exits with what it returns. Destructors of the caller's
  // objects do not run there.
  static Result<Child> start(const CloneArgs& arguments, const std::function<int()>& body);
  // Takes over a child of ours that nobody has reaped.
  Child(pid_t pid, Fd pidfd) noexcept : pid_{pid}, pidfd_{std::move(pidfd)} {}

  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const noexcept { return pid_; }
  // Polls readable when the child has ended.
  const Fd& pidfd() const noexcept { return pidfd_; }
  bool is_alive() const noexcept;

  Status signal(int number) const { return pidfd_send_signal(pidfd_, number); }
  // Waits for the end. Once only: afterwards this owns nothing.
  Result<ExitStatus> wait() &&;

 private:
  pid_t pid_;
  Fd pidfd_;
};

// Closes every descriptor from `first` up to the highest. Owners of those must not outlive it.
Status close_from(unsigned first);
// Marks them CLOEXEC instead: what a library opened behind our back ends at exec.
Status set_cloexec_from(unsigned first);

// Replaces the program. Returns only on failure. `environment` is the whole of it.
Error execve(const char* path, std::span<const std::string> arguments,
             std::span<const std::string> environment);
// The same for an open file; works without /proc and without a path.
Error execveat(const Fd& program, std::span<const std::string> arguments,
               std::span<const std::string> environment);

}  // namespace cordon::os
