// SPDX-License-Identifier: Apache-2.0
// The step "landlock": the paths of the fences as rules.
#include <cerrno>
#include <sys/stat.h>

#include "guest/descent.h"
#include "os/file.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"

namespace cordon::guest {
namespace {

namespace abi = os::abi;

constexpr std::uint64_t kRead = abi::kFsReadFile | abi::kFsReadDir;
// No devices: a workload that could make them would be stopped by its namespace, not by us.
constexpr std::uint64_t kAll = kRead | abi::kFsExecute | abi::kFsWriteFile | abi::kFsRemoveDir |
                               abi::kFsRemoveFile | abi::kFsMakeDir | abi::kFsMakeReg |
                               abi::kFsMakeSock | abi::kFsMakeFifo | abi::kFsMakeSym |
                               abi::kFsRefer | abi::kFsTruncate;
constexpr std::uint64_t kDevice = kRead | abi::kFsWriteFile | abi::kFsTruncate | abi::kFsIoctlDev;

// Not there, or not reachable for the workload: then it needs no rule.
bool may_pass_over(const Error& error) {
  const int number = error.cause().value();
  return number == ENOENT || number == ENOTDIR || number == EACCES;
}

Status add_rule(const os::LandlockRuleset& rules, const frame::PathRule& rule) {
  auto path = os::openat(os::at_cwd(), rule.path.c_str(), O_PATH);
  if (!path) {
    if (may_pass_over(path.error())) return {};
    return std::move(path).error();
  }
  struct stat facts{};
  if (::fstat(path->get(), &facts) != 0) return Error::from_errno("fstat").with(rule.path);
  std::uint64_t rights = rights_of(rule.use);
  if (!S_ISDIR(facts.st_mode)) rights &= os::landlock_file_rights();
  return rules.add_path(*path, rights);
}

}  // namespace

std::uint64_t rights_of(frame::PathUse use) noexcept {
  switch (use) {
    case frame::PathUse::read:
      return kRead;
    case frame::PathUse::read_exec:
      return kRead | abi::kFsExecute;
    case frame::PathUse::all:
      return kAll;
    case frame::PathUse::device:
      return kDevice;
    case frame::PathUse::list:
      return abi::kFsReadDir;
  }
  return 0;
}

Status apply_landlock(const Descent& descent) {
  if (descent.fences.landlock_abi <= 0) return {};
  os::LandlockRights wanted = os::landlock_rights_of(descent.fences.landlock_abi);
  wanted.net = 0;  // the network is fenced elsewhere
  // Pid 1 has them, and with it all that it starts: so its programs reach each other.
  if (!descent.one_id) wanted.scopes = 0;
  TRY(const auto rules, os::LandlockRuleset::create(wanted, descent.fences.landlock_abi));
  for (const frame::PathRule& rule : descent.fences.paths) TRY_DO(add_rule(rules, rule));
  return rules.restrict_self();
}

}  // namespace cordon::guest
