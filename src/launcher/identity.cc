// SPDX-License-Identifier: Apache-2.0
#include "launcher/identity.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include "launcher/user_namespace.h"
#include "os/file.h"
#include "os/id_map.h"

namespace cordon::launcher {

Result<LentRange> LentRange::take(const Floor& floor, const os::Fd& directory) {
  // Each launcher begins elsewhere, so that a busy host is not searched from the front every time.
  const std::uint32_t begin = static_cast<std::uint32_t>(::getpid()) % floor.ranges;
  for (std::uint32_t tried = 0; tried < floor.ranges; ++tried) {
    const std::uint32_t number = (begin + tried) % floor.ranges;
    const std::string name = "range-" + std::to_string(number);
    TRY(os::Fd lock, os::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      return LentRange{floor.first_id + number * kRange, std::move(lock)};
    }
    if (errno != EWOULDBLOCK) return Error::from_errno("flock").with(name);
  }
  return Error{Errc::exhausted, "all id ranges are in use"};
}

HostIds host_ids(const frame::LaunchPlan& plan, const LentRange* range, const OwnIds& own) {
  if (range != nullptr) {
    return {.workload_uid = range->first() + plan.setup.fences.uid,
            .workload_gid = range->first() + plan.setup.fences.gid,
            .init_uid = range->first() + kInitId,
            .init_gid = range->first() + kInitId};
  }
  return {.workload_uid = own.uid,
          .workload_gid = own.gid,
          .init_uid = own.spare_uid.value_or(own.uid),
          .init_gid = own.spare_gid.value_or(own.gid)};
}

Result<os::Fd> make_sandbox_namespace(const frame::LaunchPlan& plan, const LentRange* range,
                                      const HostIds& ids) {
  if (range != nullptr) {
    const os::IdRange whole{0, range->first(), kRange};
    return make_user_namespace({&whole, 1}, {&whole, 1});
  }
  const frame::Fences& fences = plan.setup.fences;
  std::vector<os::IdRange> uids{{fences.uid, ids.workload_uid, 1}};
  std::vector<os::IdRange> gids{{fences.gid, ids.workload_gid, 1}};
  if (ids.init_uid != ids.workload_uid) uids.push_back({kInitId, ids.init_uid, 1});
  if (ids.init_gid != ids.workload_gid) gids.push_back({kInitId, ids.init_gid, 1});
  return make_user_namespace(uids, gids);
}

}  // namespace cordon::launcher
