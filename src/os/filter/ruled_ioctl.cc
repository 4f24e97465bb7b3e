// SPDX-License-Identifier: Apache-2.0
// Which commands may be given to a device, a terminal, a socket or a file system.
//
// The kernel takes the command from the low half of its register (C103): what stands above must not
// help to walk around the list.
#include <cerrno>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "os/filter/table.h"

namespace cordon::os {
namespace {

// Terminals with struct termios2, whose header does not go together with libc's.
constexpr std::uint32_t kTcgets2 = 0x802C542A;
constexpr std::uint32_t kTcsets2 = 0x402C542B;
constexpr std::uint32_t kTcsetsw2 = 0x402C542C;
constexpr std::uint32_t kTcsetsf2 = 0x402C542D;

// By how often programs give them: isatty comes first.
constexpr std::uint32_t kAllowed[] = {
    TCGETS, FIONREAD, FIONBIO, TIOCGWINSZ, FIOCLEX, FIONCLEX, FIOASYNC, FIOQSIZE,
    // Terminals. A pty is the sandbox's own, so it may become the controlling one.
    TCSETS, TCSETSW, TCSETSF, kTcgets2, kTcsets2, kTcsetsw2, kTcsetsf2, TIOCSWINSZ, TIOCGPGRP,
    TIOCSPGRP, TIOCGSID, TIOCNOTTY, TIOCSCTTY, TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, TIOCOUTQ, TCFLSH,
    TCSBRK, TCSBRKP, TCXONC,
    // Interfaces, to look at.
    SIOCGIFCONF, SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFNETMASK, SIOCGIFBRDADDR, SIOCGIFINDEX,
    SIOCGIFNAME, SIOCGIFMTU, SIOCGIFHWADDR,
    // Files: copies that share their blocks, extents, flags to look at.
    FICLONE, FICLONERANGE, FS_IOC_FIEMAP, FS_IOC_GETFLAGS};

// C103: input as if it were typed, the console's own commands, line disciplines.
constexpr std::uint32_t kForbidden[] = {TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD};

// Whole groups, by the byte above the command's number: KD..., VT..., and (C065) NS_GET_...
constexpr std::uint32_t kForbiddenGroups[] = {0x4B00, 0x5600, 0xB700};
constexpr std::uint64_t kGroup = 0xFFFFFF00;

}  // namespace

RuledCall ruled_ioctl() {
  // ENOTTY: what a driver says of a command that it does not know.
  RuledCall row{{"ioctl", SYS_ioctl}, {}, FilterAction::fail(ENOTTY)};
  for (const std::uint32_t command : kAllowed) {
    row.clauses.push_back({FilterAction::allow(), {is(1, command)}});
  }
  for (const std::uint32_t command : kForbidden) {
    row.clauses.push_back({FilterAction::fail(EPERM), {is(1, command)}});
  }
  for (const std::uint32_t group : kForbiddenGroups) {
    row.clauses.push_back({FilterAction::fail(EPERM), {is(1, group, kGroup)}});
  }
  return row;
}

}  // namespace cordon::os
