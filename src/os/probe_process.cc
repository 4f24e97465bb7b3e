// SPDX-License-Identifier: Apache-2.0
// A child cloned, killed and reaped by descriptor.
#include "os/probe_process.h"

#include <cerrno>
#include <signal.h>
#include <unistd.h>

#include "os/prctl.h"
#include "os/process.h"

namespace cordon::os {

Fact probe_pidfd(const TrialLimit& limit) {
  const auto refused = [](const Error& error) {
    // Flags and id types that a kernel does not know are invalid to it.
    if (error.cause().value() == EINVAL) return Fact{Support::absent, error.text(), {}};
    return refused_fact(error);
  };
  auto cloned = clone3({});
  if (!cloned) return refused(cloned.error());
  if (cloned->pid == 0) {
    // It must not outlive a trial that is killed.
    if (!set_parent_death_signal(SIGKILL)) ::_exit(1);
    for (;;) ::pause();
  }
  Child child{cloned->pid, std::move(cloned->pidfd)};
  if (const Status sent = child.signal(SIGKILL); !sent) {
    // Without pidfds Child cannot end it either, and it must not outlive us.
    ::kill(child.pid(), SIGKILL);
    return refused(sent.error());
  }
  if (!readable_before(child.pidfd(), limit.deadline)) {
    return {Support::blocked, "a process that ended does not show on its pidfd", {}};
  }
  const auto ended = std::move(child).wait();
  if (!ended) return refused(ended.error());
  if (*ended == ExitStatus{ExitStatus::Kind::signaled, SIGKILL}) return ok_fact();
  return {Support::blocked, "the signal did not arrive: " + to_string(*ended), {}};
}

}  // namespace cordon::os
