// SPDX-License-Identifier: Apache-2.0
#include "launcher/identity.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "launcher/user_namespace.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/id_map.h"

namespace cordon::launcher {

namespace {

constexpr std::string_view kPrefix = "range-";

// The lock `name`, if nobody holds it. It counts only when the name still means the file that was
// locked: whoever had it before may have removed it in between.
Result<std::optional<os::Fd>> try_lock(const os::Fd& directory, const std::string& name,
                                       int create) {
  TRY(os::Fd lock, os::openat(directory, name.c_str(), O_RDWR | create | O_NOFOLLOW, 0600));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<os::Fd>{};
    return Error::from_errno("flock").with(name);
  }
  struct stat held{};
  struct stat named{};
  if (::fstat(lock.get(), &held) != 0) return Error::from_errno("fstat").with(name);
  if (::fstatat(directory.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      held.st_ino != named.st_ino) {
    return std::optional<os::Fd>{};
  }
  return std::optional{std::move(lock)};
}

}  // namespace

Result<LentRange> LentRange::take(const Floor& floor, const os::Fd& directory) {
  // Each launcher begins elsewhere, so that a busy host is not searched from the front every time.
  const std::uint32_t begin = static_cast<std::uint32_t>(::getpid()) % floor.ranges;
  for (std::uint32_t tried = 0; tried < floor.ranges; ++tried) {
    const std::uint32_t number = (begin + tried) % floor.ranges;
    std::string name = std::string{kPrefix} + std::to_string(number);
    TRY(std::optional<os::Fd> lock, try_lock(directory, name, O_CREAT));
    if (!lock) continue;
    TRY(os::Fd beside, os::duplicate(directory));
    return LentRange{floor.first_id + number * kRange, std::move(beside), std::move(name),
                     *std::move(lock)};
  }
  return Error{Errc::exhausted, "all id ranges are in use"};
}

LentRange::~LentRange() {
  if (lock_) ::unlinkat(directory_.get(), name_.c_str(), 0);
}

void reclaim_ranges(const os::Fd& directory) {
  const auto names = os::list_directory(directory, kRanges);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix)) continue;
    const auto lock = try_lock(directory, name, 0);
    if (lock && *lock) ::unlinkat(directory.get(), name.c_str(), 0);
  }
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
