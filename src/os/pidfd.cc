// SPDX-License-Identifier: Apache-2.0
// The pidfd calls.
#include "os/pidfd.h"

#include <cerrno>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cordon::os {
namespace {

Result<std::optional<ExitStatus>> wait_for(const Fd& pidfd, int options) {
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED | __WALL | options);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return Error::from_errno("waitid").with("pidfd " + std::to_string(pidfd.get()));
  if (info.si_pid == 0) return std::optional<ExitStatus>{};
  const bool exited = info.si_code == CLD_EXITED;
  return std::optional{
      ExitStatus{.kind = exited ? ExitStatus::Kind::exited : ExitStatus::Kind::signaled,
                 .value = info.si_status}};
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  return (status.kind == ExitStatus::Kind::exited ? "exit " : "signal ") +
         std::to_string(status.value);
}

Result<Fd> pidfd_open(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0U);
  if (fd < 0) return Error::from_errno("pidfd_open").with("pid " + std::to_string(pid));
  return Fd{static_cast<int>(fd)};
}

Result<Fd> pidfd_mount_namespace(const Fd& pidfd) {
  constexpr unsigned long kGetMountNamespace = _IO(0xFF, 3);  // PIDFD_GET_MNT_NAMESPACE
  const int fd = ::ioctl(pidfd.get(), kGetMountNamespace, 0);
  if (fd < 0) return Error::from_errno("ioctl PIDFD_GET_MNT_NAMESPACE");
  return Fd{fd};
}

Status pidfd_send_signal(const Fd& pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0U) != 0) {
    return Error::from_errno("pidfd_send_signal").with("signal " + std::to_string(signal));
  }
  return {};
}

Result<ExitStatus> waitid(const Fd& pidfd) {
  TRY(const auto ended, wait_for(pidfd, 0));
  if (!ended) return Error{Errc::internal, "waitid: returned without a child"};
  return *ended;
}

Result<std::optional<ExitStatus>> try_waitid(const Fd& pidfd) { return wait_for(pidfd, WNOHANG); }

}  // namespace cordon::os
