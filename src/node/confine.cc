// SPDX-License-Identifier: Apache-2.0
#include "node/confine.h"

#include <fcntl.h>
#include <filesystem>

#include "node/unpack_program.h"
#include "os/capability.h"
#include "os/cgroup_layout.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/filter/filter.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"
#include "os/system_bundles.h"

namespace cordon::node {
namespace {

namespace abi = os::abi;

constexpr std::uint64_t kRead = abi::kFsReadFile | abi::kFsReadDir;
constexpr std::uint64_t kKeep = kRead | abi::kFsWriteFile | abi::kFsMakeReg | abi::kFsMakeDir |
                                abi::kFsRemoveFile | abi::kFsRemoveDir | abi::kFsRefer |
                                abi::kFsTruncate;

// What is not there is not reached later either.
Status grant(const os::LandlockRuleset& rules, const std::string& path, std::uint64_t rights) {
  if (path.empty()) return {};
  const auto opened = os::openat(os::at_cwd(), path.c_str(), O_PATH);
  if (!opened) return opened.error().code() == Errc::not_found ? Status{} : opened.error();
  TRY(const os::FileStatus there, os::statx(*opened));
  const bool is_directory = there.type == os::FileType::directory;
  return rules.add_path(*opened, is_directory ? rights : rights & os::landlock_file_rights());
}

// With what it is linked to: libraries are read, and their loader is executed for it.
Status grant_program(const os::LandlockRuleset& rules, const std::string& program) {
  constexpr std::uint64_t kRun = abi::kFsReadFile | abi::kFsExecute;
  TRY_DO(grant(rules, program, kRun));
  for (const char* const loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}) {
    TRY_DO(grant(rules, loader, kRun));
  }
  for (const char* const place :
       {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"}) {
    TRY_DO(grant(rules, place, kRead));
  }
  return {};
}

Status grant_all(const os::LandlockRuleset& rules, const Settings& settings) {
  TRY_DO(grant(rules, settings.state, kKeep));
  // For its own socket.
  TRY_DO(grant(rules, std::filesystem::path{settings.unix_socket}.parent_path(),
               kRead | abi::kFsMakeSock | abi::kFsRemoveFile));
  for (const std::string& file :
       {settings.certificate, settings.key, settings.client_authority, settings.ceiling}) {
    TRY_DO(grant(rules, file, kRead));
  }
  for (const auto& [name, tenant] : settings.tenants) TRY_DO(grant(rules, tenant.ceiling, kRead));
  for (const auto& [name, directory] : settings.images) TRY_DO(grant(rules, directory, kRead));
  if (!settings.image_store.empty()) TRY_DO(grant(rules, settings.image_store, kRead));
  for (const char* const bundle : os::kSystemBundles) TRY_DO(grant(rules, bundle, kRead));
  // Which TLS the machine's owner wants to be spoken.
  for (const char* const place : {"/etc/ssl/openssl.cnf", "/usr/lib/ssl/openssl.cnf"}) {
    TRY_DO(grant(rules, place, kRead));
  }
  // What a sandbox uses, and who in it.
  TRY(const os::CgroupTrees groups, os::read_cgroup_trees());
  for (const os::CgroupHierarchy& tree : groups.hierarchies) {
    TRY_DO(grant(rules, tree.mount.path, kRead));
  }
  TRY_DO(grant(rules, "/proc", kRead));
  TRY_DO(grant(rules, "/dev/null", kRead | abi::kFsWriteFile));
  TRY_DO(grant_program(rules, unpack_program()));
  if (!settings.tcp) return {};
  return rules.add_port(settings.tcp->port, abi::kNetBindTcp);
}

Status restrict_files(const Settings& settings) {
  const auto known = os::landlock_abi();
  if (!known) return {};
  TRY(const os::LandlockRuleset rules,
      os::LandlockRuleset::create(os::landlock_rights_of(*known), *known));
  TRY_DO(grant_all(rules, settings));
  return rules.restrict_self();
}

}  // namespace

Status confine(const Settings& settings) {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::keep_none());
  TRY_DO(os::set_no_new_privs());
  TRY_DO(restrict_files(settings));
  return os::seccomp_load(os::filter_program(os::FilterProfile::compat));
}

}  // namespace cordon::node
