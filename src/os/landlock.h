// SPDX-License-Identifier: Apache-2.0
// Landlock: which rights a process keeps, within what the kernel's ABI knows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Bits of kernel_abi.h: kFs…, kNet…, kScope….
struct LandlockRights {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scopes = 0;

  bool empty() const noexcept { return fs == 0 && net == 0 && scopes == 0; }
  friend bool operator==(const LandlockRights&, const LandlockRights&) = default;
};

// All that this ABI version knows; nothing for 0. Versions past the newest that we know give the
// newest.
LandlockRights landlock_rights_of(int abi) noexcept;

// "fs_truncate", "net_connect_tcp", "scope_signal": for reports on what a host lacks.
std::vector<std::string_view> names_of(const LandlockRights& rights);

// The file rights that make sense on something that is no directory; the kernel refuses the others
// there.
std::uint64_t landlock_file_rights() noexcept;

// The kernel's ABI version, 1 or more. `unavailable`: not built in, or off at boot.
Result<int> landlock_abi();

// Rules in the making. They bind nobody before restrict_self.
class LandlockRuleset {
 public:
  // Handles `wanted`, as far as ABI version `abi` knows it: a handled right is denied wherever no
  // rule grants it. `abi` may be lower than the kernel's, never higher.
  static Result<LandlockRuleset> create(const LandlockRights& wanted, int abi);

  const LandlockRights& handled() const noexcept { return handled_; }
  // What was wanted and this ABI cannot hold: never denied, so whoever asked must be told.
  const LandlockRights& lacking() const noexcept { return lacking_; }

  // Grants `rights` on and below what `path` (O_PATH will do) refers to. Rights that are not
  // handled are left out: the kernel refuses to hear of them, and they are not denied anyway.
  Status add_path(const Fd& path, std::uint64_t rights) const;
  // The same for one TCP port. Port 0 grants bind to any ephemeral port.
  Status add_port(std::uint16_t port, std::uint64_t rights) const;

  // Binds the calling thread and all that it starts, for good. Before: no_new_privs, or
  // CAP_SYS_ADMIN. Log flags (kRestrictLog…) are left out before ABI 7, which has no audit log.
  Status restrict_self(std::uint32_t log_flags = 0) const;

 private:
  LandlockRuleset(Fd ruleset, LandlockRights handled, LandlockRights lacking, int abi);
  Fd ruleset_;
  LandlockRights handled_;
  LandlockRights lacking_;
  int abi_;
};

}  // namespace cordon::os
