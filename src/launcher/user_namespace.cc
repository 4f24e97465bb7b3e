// SPDX-License-Identifier: Apache-2.0
#include "launcher/user_namespace.h"

#include <signal.h>
#include <unistd.h>

#include "os/namespace.h"
#include "os/prctl.h"
#include "os/process.h"

namespace cordon::launcher {

Result<os::Fd> make_user_namespace(std::span<const os::IdRange> uids,
                                   std::span<const os::IdRange> gids) {
  // A namespace is made by a process in it; this one does nothing else, and Child ends it.
  TRY(const os::Child holder,
      os::Child::start({.namespaces = os::Ns::user}, [parent = ::getpid()] -> int {
        // Whatever happens to the launcher: this must not live on, nor keep its descriptors open.
        if (!os::set_parent_death_signal(SIGKILL) || ::getppid() != parent) return 1;
        if (!os::close_from(0)) return 1;
        for (;;) ::pause();
      }));
  TRY_DO(os::write_uid_map(holder.pid(), uids));
  TRY_DO(os::write_gid_map(holder.pid(), gids));
  return os::open_ns(os::Ns::user, holder.pid());
}

}  // namespace cordon::launcher
