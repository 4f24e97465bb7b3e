// SPDX-License-Identifier: Apache-2.0
// What a child meets in groups of our own: limits, and death at one write.
#include "os/probe_cgroup.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "os/file.h"
#include "os/prctl.h"
#include "os/probe_cgroup_groups.h"

namespace cordon::os {
namespace {

// With pids.max at 1 the process that entered is all there may be.
Status be_refused_a_child() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0 && errno == EAGAIN) return {};
  if (child < 0) return Error::from_errno("fork");
  ::waitpid(child, nullptr, 0);
  return Error{Errc::unavailable, "the pids limit does not hold"};
}

Fact enter_and_be_limited(const TrialGroups& groups) {
  if (const Status entered = groups.enter(); !entered) return refused_fact(entered.error());
  const auto controllers = groups.controllers();
  if (std::ranges::find(controllers, "pids") != controllers.end()) {
    if (const Status held = be_refused_a_child(); !held) return refused_fact(held.error());
  }
  return ok_fact();
}

// True where a user can be given groups of their own by the command that names one.
bool user_manager_runs(const Caller& caller) {
  const std::string socket = fmt::format("/run/user/{}/systemd/private", caller.uid);
  return ::access(socket.c_str(), F_OK) == 0;
}

std::string delegation_remedy(const Caller& caller, CgroupLayout layout) {
  if (caller.root || layout != CgroupLayout::v2 || !user_manager_runs(caller)) return {};
  return "systemd-run --user --scope -p Delegate=yes cordon doctor";
}

Fact limits_fact(const Caller& caller, const TrialGroups& groups, CgroupLayout layout) {
  const auto held = groups.controllers();
  std::vector<std::string> parts = groups.refusals();
  if (!held.empty()) parts.insert(parts.begin(), fmt::format("{}", fmt::join(held, " ")));
  const std::string detail =
      fmt::format("{}: {}", layout == CgroupLayout::v2 ? "v2" : "v1", fmt::join(parts, "; "));
  if (groups.refusals().empty()) return ok_fact(detail);
  const Support support = !held.empty()        ? Support::limited
                          : groups.lacks_all() ? Support::absent
                                               : Support::blocked;
  return {support, detail, delegation_remedy(caller, layout)};
}

// The child enters and waits; one write must end it.
Fact be_killed_as_a_group(const Cgroup& group) {
  auto entered = pipe2();
  if (!entered) return refused_fact(entered.error());
  const pid_t child = ::fork();
  if (child < 0) return refused_fact(Error::from_errno("fork"));
  if (child == 0) {
    if (!set_parent_death_signal(SIGKILL) || !group.add(0)) ::_exit(1);
    static_cast<void>(write_all(entered->write, "e"));
    entered->write = Fd{};
    for (;;) ::pause();
  }
  entered->write = Fd{};
  const auto word = read_all(entered->read, 1);
  const Status killed = group.kill();
  // Without cgroup.kill it lives, and its end is ours to bring.
  if (!killed) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!word || word->empty()) return {Support::blocked, "a child could not enter the group", {}};
  if (!killed && killed.error().code() == Errc::not_found) {
    return {Support::absent, "this kernel's groups have no cgroup.kill", {}};
  }
  if (!killed) return refused_fact(killed.error());
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return ok_fact();
  return {Support::blocked, "a killed group's process lived on", {}};
}

}  // namespace

CgroupFindings probe_cgroup(const Caller& caller, const TrialLimit& limit) {
  CgroupFindings found;
  const auto trees = read_cgroup_trees();
  if (!trees) {
    found.limits = found.kill = refused_fact(trees.error());
    return found;
  }
  found.layout = trees->layout;
  if (found.layout == CgroupLayout::none) {
    found.limits = found.kill = {Support::absent, "no control groups are mounted", {}};
    return found;
  }

  const TrialGroups groups = TrialGroups::make(*trees);
  const auto killable = make_v2_group(*trees);
  Trial limits = Trial::start([&] { return enter_and_be_limited(groups); });
  if (killable) {
    found.kill = Trial::start([&] { return be_killed_as_a_group(*killable); }).finish(limit);
  } else {
    const std::error_code cause = killable.error().cause();
    found.kill = {Support::blocked,
                  "no group of our own: " + (cause ? cause.message() : killable.error().text()),
                  delegation_remedy(caller, found.layout)};
    if (trees->v2() == nullptr) found.kill.support = Support::absent;
  }
  const Fact entered = std::move(limits).finish(limit);
  found.limits = limits_fact(caller, groups, found.layout);
  if (entered.support != Support::ok) {
    found.limits = entered;
  } else {
    found.controllers = groups.controllers();
  }
  return found;
}

}  // namespace cordon::os
