// SPDX-License-Identifier: Apache-2.0
#include "launcher/egress_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file_status.h"
#include "os/memfd.h"

namespace cordon::launcher {
namespace {

constexpr mode_t kOurs = 0600;

Result<os::Fd> reopen(const os::Fd& fd, int flags) {
  os::Fd opened{::open(os::proc_path(fd).c_str(), flags | O_CLOEXEC)};
  if (!opened) return Error::from_errno("open what outlives an egress");
  return opened;
}

}  // namespace

Result<os::Fd> make_egress_state() {
  TRY(os::Fd state, os::memfd_create("cordon-egress"));
  if (::fchmod(state.get(), kOurs) != 0) return Error::from_errno("fchmod");
  return state;
}

Result<os::Fd> hold_egress_state(const os::Fd& state) { return reopen(state, O_PATH); }

// Whoever can name a file, or could before it was removed, could have us open it with our rights:
// this one lies where no file ever has a name, and is ours. Of such files nobody has given the node
// any other.
Result<os::Fd> open_egress_state(const os::Fd& hold) {
  TRY(const os::FileStatus status, os::statx(hold));
  TRY(const os::Fd fresh, os::memfd_create("cordon-egress"));
  TRY(const os::FileStatus like, os::statx(fresh));
  if (status.type != os::FileType::regular || status.links != 0 || status.uid != ::geteuid() ||
      status.mode != kOurs || status.device != like.device) {
    return Error{Errc::invalid, "not what a launcher has made for an egress"};
  }
  return reopen(hold, O_RDWR);
}

}  // namespace cordon::launcher
