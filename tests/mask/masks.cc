// SPDX-License-Identifier: Apache-2.0
// Each mask as the answers of a kernel that lacks the thing.
#include "masks.h"

#include <array>
#include <cerrno>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace cordon::mask {
namespace {

constexpr std::uint64_t kSeccompSetFilter = 1;
constexpr std::uint64_t kSeccompNewListener = 8;
constexpr std::uint64_t kPrSetSeccomp = 22;
constexpr std::uint64_t kPidfdIdType = 3;
constexpr std::uint64_t kMountIdmap = 0x00100000;

// The rights that Landlock's ABI 1, 2, … know: files, network, scopes.
constexpr std::array<std::array<std::uint64_t, 3>, 7> kLandlockRights = {{
    {0x1fff, 0, 0},
    {0x3fff, 0, 0},
    {0x7fff, 0, 0},
    {0x7fff, 3, 0},
    {0xffff, 3, 0},
    {0xffff, 3, 3},
    {0xffff, 3, 3},
}};

// Words of the caller's memory; 0 where it cannot be read.
template <std::size_t Count>
std::array<std::uint64_t, Count> words_at(const Call& call, std::uint64_t address,
                                          std::uint64_t bytes = Count * 8) {
  std::array<std::uint64_t, Count> words{};
  const std::size_t size = bytes < Count * 8 ? bytes : Count * 8;
  const iovec local{words.data(), size};
  // The address is the other process's: it is never used as a pointer here.
  const iovec remote{reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr)
  if (::process_vm_readv(call.pid, &local, 1, &remote, 1, 0) < 0) return {};
  return words;
}

bool is_overlay(const Call& call, std::uint64_t address) {
  constexpr std::uint64_t kOverlay = 0x0079616c7265766fULL;  // "overlay" and its end
  return words_at<1>(call, address)[0] == kOverlay;
}

Answer fail(int error) { return {Answer::Kind::reply, -error}; }

// The flags of a call that makes namespaces; clone3 keeps them in memory.
std::uint64_t namespace_flags(const Call& call) {
  if (call.number == SYS_clone3) return words_at<1>(call, call.args[0])[0];
  if (call.number == SYS_clone || call.number == SYS_unshare) return call.args[0];
  return 0;
}

Answer landlock(const Masks& masks, const Call& call) {
  if (masks.no_landlock) return fail(ENOSYS);
  if (masks.landlock_abi == 0 || call.number != SYS_landlock_create_ruleset) return {};
  if (call.args[2] == 1) return {Answer::Kind::reply, masks.landlock_abi};
  const auto wanted = words_at<3>(call, call.args[0], call.args[1]);
  const auto& known = kLandlockRights.at(static_cast<std::size_t>(masks.landlock_abi) - 1);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if ((wanted[i] & ~known[i]) != 0) return fail(EINVAL);
  }
  return {};
}

Answer seccomp(const Masks& masks, const Call& call) {
  if (masks.no_seccomp) {
    if (call.number == SYS_seccomp) return fail(ENOSYS);
    if (call.args[0] == kPrSetSeccomp) return fail(EINVAL);
  }
  if (masks.no_seccomp_notify && call.number == SYS_seccomp && call.args[0] == kSeccompSetFilter &&
      (call.args[1] & kSeccompNewListener) != 0) {
    return fail(EINVAL);
  }
  return {};
}

Answer mounts(const Masks& masks, const Call& call) {
  if (masks.no_overlay) {
    if (call.number == SYS_fsopen && is_overlay(call, call.args[0])) return fail(ENODEV);
    if (call.number == SYS_mount && is_overlay(call, call.args[2])) return fail(ENODEV);
  }
  if (masks.no_idmap && call.number == SYS_mount_setattr &&
      (words_at<1>(call, call.args[3])[0] & kMountIdmap) != 0) {
    return fail(EINVAL);
  }
  return masks.no_mount_api && call.number != SYS_mount ? fail(ENOSYS) : Answer{};
}

Answer processes(const Masks& masks, const Call& call) {
  const std::uint64_t flags = namespace_flags(call);
  if (masks.no_userns && (flags & CLONE_NEWUSER) != 0) return fail(EPERM);
  if (masks.no_netns && (flags & CLONE_NEWNET) != 0) return fail(EPERM);
  if (!masks.no_pidfd) return {};
  if (call.number == SYS_pidfd_open || call.number == SYS_pidfd_send_signal) return fail(ENOSYS);
  if (call.number == SYS_waitid && call.args[0] == kPidfdIdType) return fail(EINVAL);
  if (call.number != SYS_unshare && (flags & CLONE_PIDFD) != 0) return fail(EINVAL);
  return {};
}

}  // namespace

std::vector<long> watched_calls(const Masks& masks) {
  std::vector<long> calls;
  const auto watch = [&](bool wanted, std::initializer_list<long> numbers) {
    if (wanted) calls.insert(calls.end(), numbers);
  };
  watch(masks.no_userns || masks.no_netns || masks.no_pidfd, {SYS_clone, SYS_clone3, SYS_unshare});
  watch(masks.no_pidfd, {SYS_pidfd_open, SYS_pidfd_send_signal, SYS_waitid});
  watch(masks.no_landlock || masks.landlock_abi > 0,
        {SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self});
  watch(masks.no_seccomp || masks.no_seccomp_notify, {SYS_seccomp, SYS_prctl});
  watch(masks.no_overlay, {SYS_fsopen, SYS_mount});
  watch(masks.no_idmap, {SYS_mount_setattr});
  watch(masks.no_mount_api, {SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_tree,
                             SYS_move_mount, SYS_mount_setattr});
  watch(masks.no_nftables, {SYS_socket});
  watch(masks.no_openat2 || masks.hang_openat2, {SYS_openat2});
  return calls;
}

Answer answer(const Masks& masks, const Call& call) {
  switch (call.number) {
    case SYS_openat2:
      if (masks.hang_openat2) return {Answer::Kind::hang, 0};
      return masks.no_openat2 ? fail(ENOSYS) : Answer{};
    case SYS_socket:
      return call.args[0] == AF_NETLINK && call.args[2] == NETLINK_NETFILTER ? fail(EPROTONOSUPPORT)
                                                                             : Answer{};
    case SYS_landlock_create_ruleset:
    case SYS_landlock_add_rule:
    case SYS_landlock_restrict_self:
      return landlock(masks, call);
    case SYS_seccomp:
    case SYS_prctl:
      return seccomp(masks, call);
    case SYS_fsopen:
    case SYS_fsconfig:
    case SYS_fsmount:
    case SYS_fspick:
    case SYS_open_tree:
    case SYS_move_mount:
    case SYS_mount_setattr:
    case SYS_mount:
      return mounts(masks, call);
    default:
      return processes(masks, call);
  }
}

}  // namespace cordon::mask
