// SPDX-License-Identifier: Apache-2.0
// Numbers of the kernel's interface that are newer than the headers we build with (6.1), under
// names of our own, so that newer headers never clash with them.
#pragma once

#include <cstdint>

namespace cordon::os::abi {

// Landlock rights, each since the ABI that its comment names; the rest are of ABI 1.
inline constexpr std::uint64_t kFsExecute = 1ULL << 0U;
inline constexpr std::uint64_t kFsWriteFile = 1ULL << 1U;
inline constexpr std::uint64_t kFsReadFile = 1ULL << 2U;
inline constexpr std::uint64_t kFsReadDir = 1ULL << 3U;
inline constexpr std::uint64_t kFsRemoveDir = 1ULL << 4U;
inline constexpr std::uint64_t kFsRemoveFile = 1ULL << 5U;
inline constexpr std::uint64_t kFsMakeChar = 1ULL << 6U;
inline constexpr std::uint64_t kFsMakeDir = 1ULL << 7U;
inline constexpr std::uint64_t kFsMakeReg = 1ULL << 8U;
inline constexpr std::uint64_t kFsMakeSock = 1ULL << 9U;
inline constexpr std::uint64_t kFsMakeFifo = 1ULL << 10U;
inline constexpr std::uint64_t kFsMakeBlock = 1ULL << 11U;
inline constexpr std::uint64_t kFsMakeSym = 1ULL << 12U;
inline constexpr std::uint64_t kFsRefer = 1ULL << 13U;       // ABI 2: rename and link across dirs
inline constexpr std::uint64_t kFsTruncate = 1ULL << 14U;    // ABI 3
inline constexpr std::uint64_t kFsIoctlDev = 1ULL << 15U;    // ABI 5
inline constexpr std::uint64_t kNetBindTcp = 1ULL << 0U;     // ABI 4
inline constexpr std::uint64_t kNetConnectTcp = 1ULL << 1U;  // ABI 4
inline constexpr std::uint64_t kScopeAbstractUnixSocket = 1ULL << 0U;  // ABI 6
inline constexpr std::uint64_t kScopeSignal = 1ULL << 1U;              // ABI 6

// Flags of landlock_restrict_self, ABI 7: what the audit log hears of denials.
inline constexpr std::uint32_t kRestrictLogSameExecOff = 1U << 0U;
inline constexpr std::uint32_t kRestrictLogNewExecOn = 1U << 1U;
inline constexpr std::uint32_t kRestrictLogSubdomainsOff = 1U << 2U;

inline constexpr std::uint32_t kLandlockQueryVersion = 1U << 0U;
inline constexpr int kLandlockRulePathBeneath = 1;
inline constexpr int kLandlockRuleNetPort = 2;

// struct landlock_ruleset_attr: the kernel tells by the size passed which fields are meant.
struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4
  std::uint64_t scoped;              // ABI 6
};

// struct landlock_net_port_attr. The port is in host byte order.
struct LandlockNetPortAttr {
  std::uint64_t allowed_access;
  std::uint64_t port;
};

// struct landlock_path_beneath_attr, which the kernel declares packed.
struct [[gnu::packed]] LandlockPathBeneathAttr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
static_assert(sizeof(LandlockPathBeneathAttr) == 12);

// _IOW('!', 4, __u64): flags of a seccomp listener, since 6.6.
inline constexpr unsigned long kSeccompNotifSetFlags = 0x40082104UL;
// The notifier and its target share one CPU: the wake-up is a switch, not a queue.
inline constexpr std::uint64_t kSeccompNotifFdSyncWakeUp = 1ULL << 0U;

// System calls that our headers do not name (x86-64 and arm64 alike).
inline constexpr int kCachestat = 451;
inline constexpr int kFchmodat2 = 452;
inline constexpr int kMapShadowStack = 453;
inline constexpr int kFutexWake = 454;
inline constexpr int kFutexWait = 455;
inline constexpr int kFutexRequeue = 456;
inline constexpr int kStatmount = 457;
inline constexpr int kListmount = 458;
inline constexpr int kLsmGetSelfAttr = 459;
inline constexpr int kLsmSetSelfAttr = 460;
inline constexpr int kLsmListModules = 461;
inline constexpr int kMseal = 462;
inline constexpr int kSetxattrat = 463;
inline constexpr int kGetxattrat = 464;
inline constexpr int kListxattrat = 465;
inline constexpr int kRemovexattrat = 466;
inline constexpr int kOpenTreeAttr = 467;
inline constexpr int kFileGetattr = 468;
inline constexpr int kFileSetattr = 469;
inline constexpr int kListns = 470;
#if defined(__x86_64__)
inline constexpr int kUretprobe = 335;
inline constexpr int kUprobe = 336;
#endif

// memfd_create: the file can never be executed; also silences the kernel's warning. Since 6.3.
inline constexpr unsigned kMfdNoexecSeal = 0x0008U;
inline constexpr unsigned kMfdExec = 0x0010U;

}  // namespace cordon::os::abi
