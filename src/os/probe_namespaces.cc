// SPDX-License-Identifier: Apache-2.0
// Each kind of namespace made, and used for what only it allows.
#include "os/probe_namespaces.h"

#include <cerrno>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/namespace.h"
#include "os/probe_sub_ids.h"

namespace cordon::os {
namespace {

Fact use_a_right_of_inner_root() {
  if (::getuid() != 0) return {Support::blocked, "the map does not hold", {}};
  if (::prctl(PR_CAPBSET_DROP, CAP_SYS_MODULE, 0, 0, 0) != 0) {
    return userns_refused(Error::from_errno("a capability inside it"));
  }
  return ok_fact();
}

Fact take_another_id(std::string detail) {
  if (::setresuid(1, 1, 1) != 0) return refused_fact(Error::from_errno("setresuid"));
  return ok_fact(std::move(detail));
}

// Only a child of the caller that made it is in a new pid namespace.
Status be_pid_1() {
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork");
  if (child == 0) ::_exit(::getpid() == 1 ? 0 : 1);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Error::from_errno("waitpid");
  }
  if (status != 0) return Error{Errc::unavailable, "its first process is not pid 1"};
  return {};
}

Status make_and_use(Ns kind) {
  TRY_DO(unshare(kind));
  if (kind == Ns::uts) return sethostname("cordon-probe");
  if (kind == Ns::pid) return be_pid_1();
  return {};
}

Fact make_all_kinds() {
  std::string made;
  std::string refused;
  for (const Ns kind : {Ns::mount, Ns::ipc, Ns::uts, Ns::net, Ns::cgroup, Ns::pid}) {
    const Status done = make_and_use(kind);
    std::string& list = done ? made : refused;
    if (!list.empty()) list += ' ';
    list += to_string(kind);
    if (!done) list += " (" + done.error().text() + ")";
  }
  if (refused.empty()) return ok_fact(made);
  return {Support::blocked, "not " + refused, {}};
}

}  // namespace

Fact probe_user_namespaces(const Caller& caller, const TrialLimit& limit) {
  return in_user_namespace(caller, use_a_right_of_inner_root, limit);
}

Fact probe_id_ranges(const Caller& caller, const TrialLimit& limit) {
  if (caller.root) {
    const std::string detail = fmt::format("{} ids for each sandbox", kTrialIds);
    return in_user_namespace(caller, [&] { return take_another_id(detail); }, limit);
  }
  const auto ranges = find_sub_ids(caller);
  if (!ranges) return {Support::blocked, ranges.error().text(), sub_ids_remedy(caller)};
  const std::string detail = fmt::format("{} ids through newuidmap", ranges->uids.count);
  return in_user_namespace([&](pid_t pid) { return map_sub_ids(caller, *ranges, pid); },
                           [&] { return take_another_id(detail); }, limit);
}

Fact probe_other_namespaces(const Caller& caller, const TrialLimit& limit) {
  return in_user_namespace(caller, make_all_kinds, limit);
}

}  // namespace cordon::os
