// SPDX-License-Identifier: Apache-2.0
#include "guest/descent.h"

#include <algorithm>
#include <cerrno>
#include <grp.h>
#include <linux/capability.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/oom_score.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

// What the command `nice` gives.
constexpr int kUngroupedNice = 10;

bool has_ids(uid_t uid, gid_t gid) {
  uid_t user[3] = {};
  gid_t group[3] = {};
  return ::getresuid(&user[0], &user[1], &user[2]) == 0 &&
         ::getresgid(&group[0], &group[1], &group[2]) == 0 &&
         std::ranges::all_of(user, [&](uid_t id) { return id == uid; }) &&
         std::ranges::all_of(group, [&](gid_t id) { return id == gid; });
}

// Lowers both values to `most`; a limit that is lower already stays.
Status lower_limit(os::Rlimit kind, std::uint64_t most) {
  if (most == 0) return {};
  TRY(const os::RlimitValue now, os::get_rlimit(kind));
  const std::uint64_t value = std::min(now.hard.value_or(most), most);
  return os::set_rlimit(kind, {.soft = value, .hard = value});
}

// Effective, permitted, inheritable and ambient become `kept`. The bounding set is left: changing
// it needs CAP_SETPCAP, which pid 1 is not given, and under no_new_privs it gives nothing back.
Status set_capabilities(os::CapabilitySet kept) {
  TRY_DO(os::clear_ambient());
  const auto low = static_cast<std::uint32_t>(kept.bits());
  const auto high = static_cast<std::uint32_t>(kept.bits() >> 32U);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct sets[2] = {
      {.effective = low, .permitted = low, .inheritable = low},
      {.effective = high, .permitted = high, .inheritable = high}};
  if (::syscall(SYS_capset, &header, &sets[0]) != 0) return Error::from_errno("capset");
  for (int capability = 0; capability < 64; ++capability) {
    if (!kept.has(capability)) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return Error::from_errno("prctl PR_CAP_AMBIENT_RAISE");
    }
  }
  return {};
}

// Where no group keeps their number none shares the processors out either: so many processes as are
// allowed must not keep pid 1, and who supervises it, from running.
Status wait_for_others(const frame::ProcessLimits& limits) {
  if (limits.processes == 0) return {};
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  if (now == -1 && errno != 0) return Error::from_errno("getpriority");
  if (now >= kUngroupedNice) return {};
  if (::setpriority(PRIO_PROCESS, 0, kUngroupedNice) != 0) return Error::from_errno("setpriority");
  return {};
}

}  // namespace

Status raise_oom_score(const Descent& descent) {
  if (descent.has_oom_score) return {};
  TRY(const OomScore own, OomScore::open());
  return own.raise();
}

Status become_workload_id(const Descent& descent) {
  const auto& [uid, gid] = std::tie(descent.fences.uid, descent.fences.gid);
  const bool same = has_ids(uid, gid);
  // Where only one id is mapped setgroups is denied, to the launcher as to us.
  const int groups = ::getgroups(0, nullptr);
  if (groups < 0) return Error::from_errno("getgroups");
  if (groups > 0 && ::setgroups(0, nullptr) != 0 && !(same && errno == EPERM)) {
    return Error::from_errno("setgroups");
  }
  if (same) return {};
  // Leaving user id 0 would take the granted capabilities too; exec clears this.
  TRY_DO(os::set_keep_capabilities(true));
  if (::setresgid(gid, gid, gid) != 0) return Error::from_errno("setresgid");
  if (::setresuid(uid, uid, uid) != 0) return Error::from_errno("setresuid");
  return {};
}

Status set_limits(const Descent& descent) {
  const frame::ProcessLimits& limits = descent.fences.limits;
  TRY_DO(wait_for_others(limits));
  // 1 byte: no core file is that small, and of all values only this one also keeps the kernel from
  // starting the host's pipe handler.
  TRY_DO(lower_limit(os::Rlimit::core_size, 1));
  TRY_DO(lower_limit(os::Rlimit::open_files, limits.open_files));
  TRY_DO(lower_limit(os::Rlimit::processes, limits.processes));
  TRY_DO(lower_limit(os::Rlimit::file_size, limits.file_size));
  TRY_DO(lower_limit(os::Rlimit::address_space, limits.address_space));
  return {};
}

Status keep_granted(const Descent& descent) {
  os::CapabilitySet kept;
  for (const std::uint32_t number : descent.fences.capabilities) {
    if (number >= 64) return Error::from_errno("capability", EINVAL);
    kept = os::CapabilitySet::from_bits(kept.bits() | (std::uint64_t{1} << number));
  }
  TRY(const os::HeldCapabilities now, os::held_capabilities());
  if (now.effective.has(CAP_SETPCAP)) TRY_DO(os::drop_bounding(kept));
  return set_capabilities(kept);
}

Status close_to_tracers(const Descent&) { return os::set_dumpable(false); }

Status load_workload_filter(const Descent& descent) {
  const std::string& name = descent.fences.filter;
  TRY(const auto program, descent.find_filter(name));
  const auto profile = os::filter_profile_from_string(name);
  if (!profile || !os::has_notify(*profile)) return os::seccomp_load(program);
  // With nobody to answer, the first exec would fail, and say nothing of the cause.
  if (descent.witness == nullptr) return Error::from_errno("filter", EINVAL).with(name);
  // A caller that a signal takes out of its wait would call again, and be told twice: where the
  // kernel can (5.19) it waits on.
  auto listener = os::seccomp_load_with_listener(program, {.wait_killable = true});
  if (!listener && listener.error().cause().value() == EINVAL) {
    listener = os::seccomp_load_with_listener(program);
  }
  if (!listener) return listener.error();
  const std::array<std::byte, 1> word{};
  const os::Fd* const beside[] = {&*listener};
  TRY_DO(os::send(*descent.witness, word, beside));
  return {};
}

std::optional<StepFailure> descend(std::span<const Step> steps, const Descent& descent) {
  for (const Step& step : steps) {
    const Status taken = step.take(descent);
    if (taken) continue;
    const int number = taken.error().cause().value();
    return StepFailure{step.name, number != 0 ? number : EINVAL};
  }
  return std::nullopt;
}

}  // namespace cordon::guest
