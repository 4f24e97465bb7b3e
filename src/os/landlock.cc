// SPDX-License-Identifier: Apache-2.0
// The three Landlock calls, and the table of rights by ABI version.
#include "os/landlock.h"

#include <array>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

enum class Kind : std::uint8_t { fs, net, scope };

struct Right {
  std::string_view name;
  Kind kind;
  std::uint64_t bit;
  int since;
  bool on_files = false;
};

constexpr std::array kRights{
    Right{"fs_execute", Kind::fs, abi::kFsExecute, 1, true},
    Right{"fs_write_file", Kind::fs, abi::kFsWriteFile, 1, true},
    Right{"fs_read_file", Kind::fs, abi::kFsReadFile, 1, true},
    Right{"fs_read_dir", Kind::fs, abi::kFsReadDir, 1},
    Right{"fs_remove_dir", Kind::fs, abi::kFsRemoveDir, 1},
    Right{"fs_remove_file", Kind::fs, abi::kFsRemoveFile, 1},
    Right{"fs_make_char", Kind::fs, abi::kFsMakeChar, 1},
    Right{"fs_make_dir", Kind::fs, abi::kFsMakeDir, 1},
    Right{"fs_make_reg", Kind::fs, abi::kFsMakeReg, 1},
    Right{"fs_make_sock", Kind::fs, abi::kFsMakeSock, 1},
    Right{"fs_make_fifo", Kind::fs, abi::kFsMakeFifo, 1},
    Right{"fs_make_block", Kind::fs, abi::kFsMakeBlock, 1},
    Right{"fs_make_sym", Kind::fs, abi::kFsMakeSym, 1},
    Right{"fs_refer", Kind::fs, abi::kFsRefer, 2},
    Right{"fs_truncate", Kind::fs, abi::kFsTruncate, 3, true},
    Right{"net_bind_tcp", Kind::net, abi::kNetBindTcp, 4},
    Right{"net_connect_tcp", Kind::net, abi::kNetConnectTcp, 4},
    Right{"fs_ioctl_dev", Kind::fs, abi::kFsIoctlDev, 5, true},
    Right{"scope_abstract_unix_socket", Kind::scope, abi::kScopeAbstractUnixSocket, 6},
    Right{"scope_signal", Kind::scope, abi::kScopeSignal, 6},
};
constexpr int kAbiWithLogFlags = 7;

std::uint64_t& field(LandlockRights& rights, Kind kind) {
  switch (kind) {
    case Kind::fs:
      return rights.fs;
    case Kind::net:
      return rights.net;
    case Kind::scope:
      return rights.scopes;
  }
  return rights.fs;
}

LandlockRights meet(const LandlockRights& a, const LandlockRights& b) {
  return {.fs = a.fs & b.fs, .net = a.net & b.net, .scopes = a.scopes & b.scopes};
}

LandlockRights without(const LandlockRights& a, const LandlockRights& b) {
  return {.fs = a.fs & ~b.fs, .net = a.net & ~b.net, .scopes = a.scopes & ~b.scopes};
}

Status add_rule(const Fd& ruleset, int type, const void* attributes, std::string_view what) {
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), type, attributes, 0U) != 0) {
    return Error::from_errno("landlock_add_rule").with(what);
  }
  return {};
}

}  // namespace

LandlockRights landlock_rights_of(int abi) noexcept {
  LandlockRights known;
  for (const Right& right : kRights) {
    if (right.since <= abi) field(known, right.kind) |= right.bit;
  }
  return known;
}

std::vector<std::string_view> names_of(const LandlockRights& rights) {
  std::vector<std::string_view> names;
  LandlockRights held = rights;
  for (const Right& right : kRights) {
    if ((field(held, right.kind) & right.bit) != 0) names.push_back(right.name);
  }
  return names;
}

std::uint64_t landlock_file_rights() noexcept {
  std::uint64_t rights = 0;
  for (const Right& right : kRights) {
    if (right.on_files) rights |= right.bit;
  }
  return rights;
}

Result<int> landlock_abi() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, abi::kLandlockQueryVersion);
  if (version < 0) return Error::from_errno("landlock_create_ruleset");
  return static_cast<int>(version);
}

LandlockRuleset::LandlockRuleset(Fd ruleset, LandlockRights handled, LandlockRights lacking,
                                 int abi)
    : ruleset_{std::move(ruleset)}, handled_{handled}, lacking_{lacking}, abi_{abi} {}

Result<LandlockRuleset> LandlockRuleset::create(const LandlockRights& wanted, int abi) {
  const LandlockRights known = landlock_rights_of(abi);
  const LandlockRights handled = meet(wanted, known);
  const abi::LandlockRulesetAttr attributes{
      .handled_access_fs = handled.fs, .handled_access_net = handled.net, .scoped = handled.scopes};
  // Older kernels accept the longer struct as long as the fields unknown to them are zero, and
  // masking has made them so.
  const long fd = ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U);
  if (fd < 0) {
    return Error::from_errno("landlock_create_ruleset").with("abi " + std::to_string(abi));
  }
  return LandlockRuleset{Fd{static_cast<int>(fd)}, handled, without(wanted, known), abi};
}

Status LandlockRuleset::add_path(const Fd& path, std::uint64_t rights) const {
  const std::uint64_t granted = rights & handled_.fs;
  if (granted == 0 && rights != 0) return {};
  const abi::LandlockPathBeneathAttr attributes{.allowed_access = granted, .parent_fd = path.get()};
  return add_rule(ruleset_, abi::kLandlockRulePathBeneath, &attributes,
                  "fd " + std::to_string(path.get()));
}

Status LandlockRuleset::add_port(std::uint16_t port, std::uint64_t rights) const {
  const std::uint64_t granted = rights & handled_.net;
  if (granted == 0 && rights != 0) return {};
  const abi::LandlockNetPortAttr attributes{.allowed_access = granted, .port = port};
  return add_rule(ruleset_, abi::kLandlockRuleNetPort, &attributes, "port " + std::to_string(port));
}

Status LandlockRuleset::restrict_self(std::uint32_t log_flags) const {
  const std::uint32_t flags = abi_ >= kAbiWithLogFlags ? log_flags : 0;
  if (::syscall(SYS_landlock_restrict_self, ruleset_.get(), flags) != 0) {
    return Error::from_errno("landlock_restrict_self");
  }
  return {};
}

}  // namespace cordon::os
