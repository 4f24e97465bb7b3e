// SPDX-License-Identifier: Apache-2.0
#include "launcher/user_namespace.h"

#include <array>
#include <cstddef>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/namespace.h"
#include "os/pidfd.h"
#include "os/process.h"

namespace cordon::launcher {
namespace {

// It shares our memory, errno included: nothing but calls that do not fail, until it is killed.
int hold(void* parent) {
  // Whatever happens to the launcher: this must not live on, nor keep its descriptors open.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != *static_cast<const pid_t*>(parent)) ::_exit(1);
  ::syscall(SYS_close_range, 0U, ~0U, 0U);
  for (;;) ::pause();
}

}  // namespace

Result<os::Fd> make_user_namespace(std::span<const os::IdRange> uids,
                                   std::span<const os::IdRange> gids) {
  // A namespace is made by a process in it; this one does nothing else, and Child ends it before
  // the stack goes. To copy our memory for it would take longer than all the rest.
  alignas(16) std::array<std::byte, 16384> stack;  // NOLINT(*-member-init): a stack
  pid_t parent = ::getpid();
  int pidfd = -1;
  const int pid = ::clone(hold, stack.data() + stack.size(),
                          CLONE_VM | CLONE_PIDFD | CLONE_NEWUSER | SIGCHLD, &parent, &pidfd);
  if (pid < 0) return Error::from_errno("clone");
  const os::Child holder{pid, os::Fd{pidfd}};
  TRY_DO(os::write_uid_map(holder.pid(), uids));
  TRY_DO(os::write_gid_map(holder.pid(), gids));
  return os::open_ns(os::Ns::user, holder.pid());
}

}  // namespace cordon::launcher
