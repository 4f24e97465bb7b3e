// SPDX-License-Identifier: Apache-2.0
// unshare, setns and the links of /proc/PID/ns.
#include "os/namespace.h"

#include <array>
#include <sched.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.h"

namespace cordon::os {
namespace {

constexpr std::array kAll{Ns::user, Ns::mount, Ns::pid,    Ns::net,
                          Ns::ipc,  Ns::uts,   Ns::cgroup, Ns::time};

std::string names_of(NsSet kinds) {
  std::string names;
  for (const Ns kind : kAll) {
    if (!kinds.has(kind)) continue;
    if (!names.empty()) names += '+';
    names += to_string(kind);
  }
  return names;
}

}  // namespace

std::string_view to_string(Ns kind) noexcept {
  switch (kind) {
    case Ns::user:
      return "user";
    case Ns::mount:
      return "mnt";
    case Ns::pid:
      return "pid";
    case Ns::net:
      return "net";
    case Ns::ipc:
      return "ipc";
    case Ns::uts:
      return "uts";
    case Ns::cgroup:
      return "cgroup";
    case Ns::time:
      return "time";
  }
  return "?";
}

Status unshare(NsSet kinds) {
  if (::unshare(static_cast<int>(kinds.flags())) != 0) {
    return Error::from_errno("unshare").with(names_of(kinds));
  }
  return {};
}

Status setns(const Fd& ns, NsSet kinds) {
  if (::setns(ns.get(), static_cast<int>(kinds.flags())) != 0) {
    return Error::from_errno("setns").with(names_of(kinds));
  }
  return {};
}

Result<Fd> open_ns(Ns kind, pid_t pid) {
  const std::string path =
      "/proc/" + (pid == 0 ? "self" : std::to_string(pid)) + "/ns/" + std::string{to_string(kind)};
  return openat(at_cwd(), path.c_str(), O_RDONLY);
}

Result<std::uint64_t> ns_id(const Fd& ns) {
  struct stat what{};
  if (::fstat(ns.get(), &what) != 0) return Error::from_errno("fstat").with("namespace");
  return what.st_ino;
}

Status sethostname(std::string_view name) {
  if (::sethostname(name.data(), name.size()) != 0) {
    return Error::from_errno("sethostname").with(name);
  }
  return {};
}

}  // namespace cordon::os
