// SPDX-License-Identifier: Apache-2.0
// The handshake of a child that makes the namespace and a parent that maps it.
#include "os/probe_userns.h"

#include <array>
#include <cerrno>
#include <grp.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"
#include "os/id_map.h"
#include "os/namespace.h"
#include "os/prctl.h"

namespace cordon::os {
namespace {

// Every id of the child becomes the namespace's 0; root of the host, its own id until now, is not
// mapped there at all.
Status become_inner_root() {
  static_cast<void>(::setgroups(0, nullptr));  // refused, and not needed, with a map of one id
  if (::setresgid(0, 0, 0) != 0) return Error::from_errno("setresgid");
  if (::setresuid(0, 0, 0) != 0) return Error::from_errno("setresuid");
  return set_parent_death_signal(SIGKILL);  // a change of ids cleared it
}

std::string sysctl(const char* path) {
  auto text = read_file(at_cwd(), path);
  if (!text) return {};
  text->erase(text->find_last_not_of('\n') + 1);
  return *std::move(text);
}

bool under_seccomp_filter() {
  const auto status = read_file(at_cwd(), "/proc/self/status");
  return status && status->find("\nSeccomp:\t2") != std::string::npos;
}

}  // namespace

Status write_trial_maps(const Caller& caller, pid_t pid) {
  const auto map = [&](unsigned own) {
    return caller.root ? std::array{IdRange{0, kTrialFirstId, kTrialIds}}
                       : std::array{IdRange{0, own, 1}};
  };
  if (!caller.root) TRY_DO(deny_setgroups(pid));
  TRY_DO(write_uid_map(pid, map(caller.uid)));
  return write_gid_map(pid, map(caller.gid));
}

Fact in_user_namespace(const Caller& caller, const Experiment& act, const TrialLimit& limit) {
  return in_user_namespace([&](pid_t pid) { return write_trial_maps(caller, pid); }, act, limit);
}

Fact in_user_namespace(const WriteMaps& map, const Experiment& act, const TrialLimit& limit) {
  auto made = pipe2();
  auto mapped = pipe2();
  if (!made) return refused_fact(made.error());
  if (!mapped) return refused_fact(mapped.error());

  Trial inner = Trial::start([&]() -> Fact {
    made->read = Fd{};
    mapped->write = Fd{};
    if (const Status split = unshare(Ns::user); !split) return userns_refused(split.error());
    if (const Status sent = write_all(made->write, "m"); !sent) return refused_fact(sent.error());
    made->write = Fd{};
    const auto word = read_all(mapped->read, 1);
    if (!word || word->empty()) return {.support = Support::blocked, .detail = "no id map"};
    if (const Status root = become_inner_root(); !root) return userns_refused(root.error());
    return act();
  });
  made->write = Fd{};
  mapped->read = Fd{};

  char byte = 0;
  if (readable_before(made->read, limit.deadline) && ::read(made->read.get(), &byte, 1) == 1) {
    if (const Status written = map(inner.pid()); !written) return userns_refused(written.error());
    // If the child has died meanwhile, finish() tells how.
    static_cast<void>(write_all(mapped->write, "g"));
    mapped->write = Fd{};
  }
  return std::move(inner).finish(limit);
}

Fact userns_refused(const Error& error) {
  const auto blocked = [](std::string detail, std::string remedy = {}) {
    return Fact{Support::blocked, std::move(detail), std::move(remedy)};
  };
  const int cause = error.cause().value();
  if (cause == ENOSPC || cause == EUSERS) {
    const std::string most = sysctl("/proc/sys/user/max_user_namespaces");
    return blocked(fmt::format("the limit user.max_user_namespaces={} is reached", most),
                   "sudo sysctl -w user.max_user_namespaces=16384");
  }
  if (cause == EINVAL || cause == ENOSYS) {
    return {Support::absent, "built without user namespaces: " + error.text(), {}};
  }
  if (cause != EPERM && cause != EACCES) return blocked(error.text());
  if (sysctl("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return blocked("forbidden by kernel.unprivileged_userns_clone=0",
                   "sudo sysctl -w kernel.unprivileged_userns_clone=1");
  }
  if (sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return blocked("AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)",
                   "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
  }
  if (under_seccomp_filter()) {
    return blocked(error.text() + " (this process runs under a seccomp filter, as in a container)");
  }
  return blocked(error.text());
}

}  // namespace cordon::os
