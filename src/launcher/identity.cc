// SPDX-License-Identifier: Apache-2.0
#include "launcher/identity.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "launcher/user_namespace.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/id_map.h"

namespace cordon::launcher {

struct LentRange::Shelf {
  os::Fd directory;
  std::set<std::uint32_t> lent;  // by us: what a node does to its copy of a lock changes nothing
};

namespace {

constexpr std::string_view kLockPrefix = "range-";
constexpr std::size_t kMostLocks = 65'536;  // more ranges than ids have room for

// Named by the first id itself: launchers with other floors lend the same ids under the same name.
std::string lock_name(std::uint32_t first) {
  return std::string{kLockPrefix} + std::to_string(first);
}

// True when the name still means the file that was locked: whoever had it before may have removed
// it in between.
Result<bool> is_named(const os::Fd& directory, const std::string& name, const os::Fd& lock) {
  struct stat held{};
  struct stat named{};
  if (::fstat(lock.get(), &held) != 0) return Error::from_errno("fstat").with(name);
  return ::fstatat(directory.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino;
}

// The lock `name`, if nobody holds it.
Result<std::optional<os::Fd>> try_lock(const os::Fd& directory, const std::string& name,
                                       int create) {
  TRY(os::Fd lock, os::openat(directory, name.c_str(), O_RDWR | create | O_NOFOLLOW, 0600));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<os::Fd>{};
    return Error::from_errno("flock").with(name);
  }
  TRY(const bool named, is_named(directory, name, lock));
  if (!named) return std::optional<os::Fd>{};
  return std::optional{std::move(lock)};
}

void reclaim(const os::Fd& directory) {
  const auto names = os::list_directory(directory, kMostLocks);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kLockPrefix)) continue;
    const auto lock = try_lock(directory, name, 0);
    if (lock && *lock) ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

}  // namespace

RangeLender::RangeLender(const Floor& floor, os::Fd directory, unsigned ahead, bool refills)
    : first_id_{floor.first_id},
      ranges_{floor.ranges},
      // Each launcher begins elsewhere.
      next_{floor.ranges == 0 ? 0 : static_cast<std::uint32_t>(::getpid()) % floor.ranges},
      shelf_{std::make_shared<LentRange::Shelf>(std::move(directory))},
      ahead_{std::min(ahead, floor.ranges / 2)},
      refills_{refills} {
  if (shelf_->directory) reclaim(shelf_->directory);
}

Result<LentIds> RangeLender::make() {
  TRY(LentRange range, lend());
  const os::IdRange whole{0, range.first(), kRange};
  TRY(os::Fd made, make_user_namespace({&whole, 1}, {&whole, 1}));
  return LentIds{std::move(range), std::move(made)};
}

Result<LentIds> RangeLender::take() {
  failed_ = false;
  if (!refills_) ahead_ = 0;
  if (ready_.empty()) return make();
  LentIds ids = std::move(ready_.front());
  ready_.pop_front();
  return ids;
}

void RangeLender::refill() {
  auto made = make();
  failed_ = !made;
  if (made) ready_.push_back(*std::move(made));
}

Result<LentRange> RangeLender::lend() {
  for (std::uint32_t tried = 0; tried < ranges_; ++tried) {
    const std::uint32_t first = first_id_ + next_ * kRange;
    next_ = (next_ + 1) % ranges_;
    if (shelf_->lent.contains(first)) continue;
    TRY(std::optional<os::Fd> lock, try_lock(shelf_->directory, lock_name(first), O_CREAT));
    if (!lock) continue;
    // Shared from here on, so that the node can have a lock beside ours; who wants the range asks
    // for all of it. The change is not atomic: one that came between has it.
    if (::flock(lock->get(), LOCK_SH | LOCK_NB) != 0) continue;
    shelf_->lent.insert(first);
    return LentRange{first, shelf_, *std::move(lock)};
  }
  return Error{Errc::exhausted, "all id ranges are in use"};
}

Result<os::Fd> LentRange::second_lock() const {
  const std::string name = lock_name(first_);
  TRY(os::Fd lock, os::openat(shelf_->directory, name.c_str(), O_RDONLY | O_NOFOLLOW));
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return Error::from_errno("flock").with(name);
  return lock;
}

LentRange::~LentRange() {
  if (!lock_) return;
  ::unlinkat(shelf_->directory.get(), lock_name(first_).c_str(), 0);
  shelf_->lent.erase(first_);
}

HostIds host_ids(const frame::LaunchPlan& plan, const LentRange* range, const OwnIds& own) {
  if (range != nullptr) {
    return {.workload_uid = range->first() + plan.setup.fences.uid,
            .workload_gid = range->first() + plan.setup.fences.gid,
            .init_uid = range->first() + kInitId,
            .init_gid = range->first() + kInitId,
            .root_uid = range->first(),
            .root_gid = range->first()};
  }
  return {.workload_uid = own.uid,
          .workload_gid = own.gid,
          .init_uid = own.spare_uid.value_or(own.uid),
          .init_gid = own.spare_gid.value_or(own.gid),
          .root_uid = own.uid,
          .root_gid = own.gid};
}

Result<os::Fd> make_caller_namespace(const frame::LaunchPlan& plan, const HostIds& ids) {
  const frame::Fences& fences = plan.setup.fences;
  std::vector<os::IdRange> uids{{fences.uid, ids.workload_uid, 1}};
  std::vector<os::IdRange> gids{{fences.gid, ids.workload_gid, 1}};
  if (ids.init_uid != ids.workload_uid) uids.push_back({kInitId, ids.init_uid, 1});
  if (ids.init_gid != ids.workload_gid) gids.push_back({kInitId, ids.init_gid, 1});
  return make_user_namespace(uids, gids);
}

}  // namespace cordon::launcher
