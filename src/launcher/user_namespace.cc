// SPDX-License-Identifier: Apache-2.0
#include "launcher/user_namespace.h"

#include <unistd.h>

#include "os/namespace.h"
#include "os/process.h"

namespace cordon::launcher {

Result<os::Fd> make_user_namespace(std::span<const os::IdRange> uids,
                                   std::span<const os::IdRange> gids) {
  // A namespace is made by a process in it; this one does nothing else, and Child ends it.
  TRY(const os::Child holder,
      os::Child::start({.namespaces = os::Ns::user, .exit_signal = 0}, [] -> int {
        for (;;) ::pause();
      }));
  TRY_DO(os::write_uid_map(holder.pid(), uids));
  TRY_DO(os::write_gid_map(holder.pid(), gids));
  return os::open_ns(os::Ns::user, holder.pid());
}

}  // namespace cordon::launcher
