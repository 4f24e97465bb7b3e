// SPDX-License-Identifier: Apache-2.0
#include "app/fleet_program/confine.h"

#include <fcntl.h>
#include <filesystem>

#include "os/capability.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/filter/filter.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

namespace cordon::fleet_program {
namespace {

namespace abi = os::abi;

constexpr std::uint64_t kRead = abi::kFsReadFile | abi::kFsReadDir;
constexpr std::uint64_t kKeep =
    kRead | abi::kFsWriteFile | abi::kFsMakeReg | abi::kFsRemoveFile | abi::kFsRefer;

Status grant(const os::LandlockRuleset& rules, const std::string& path, std::uint64_t rights) {
  const auto opened = os::openat(os::at_cwd(), path.c_str(), O_PATH);
  if (!opened) return opened.error().code() == Errc::not_found ? Status{} : opened.error();
  TRY(const os::FileStatus there, os::statx(*opened));
  const bool is_directory = there.type == os::FileType::directory;
  return rules.add_path(*opened, is_directory ? rights : rights & os::landlock_file_rights());
}

Status restrict_files(const std::string& state) {
  const auto known = os::landlock_abi();
  if (!known) return {};
  // Ports are left alone: members of etcd and nodes have any, and come and go.
  os::LandlockRights wanted = os::landlock_rights_of(*known);
  wanted.net = 0;
  TRY(const os::LandlockRuleset rules, os::LandlockRuleset::create(wanted, *known));
  TRY_DO(grant(rules, state, kKeep));
  for (const char* const place : {"/etc/ssl/openssl.cnf", "/usr/lib/ssl/openssl.cnf"}) {
    TRY_DO(grant(rules, place, kRead));
  }
  TRY_DO(grant(rules, "/proc", kRead));
  TRY_DO(grant(rules, "/sys/fs/cgroup", kRead));
  TRY_DO(grant(rules, "/dev/null", kRead | abi::kFsWriteFile));
  return rules.restrict_self();
}

}  // namespace

Status confine(const std::string& state) {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::keep_none());
  TRY_DO(os::set_no_new_privs());
  TRY_DO(restrict_files(state));
  return os::seccomp_load(os::filter_program(os::FilterProfile::compat));
}

}  // namespace cordon::fleet_program
