// SPDX-License-Identifier: Apache-2.0
// Processes by descriptor: no pid is ever signalled after it may mean another process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct ExitStatus {
  enum class Kind : std::uint8_t { exited, signaled };
  Kind kind = Kind::exited;
  int value = 0;  // the code of exit, or the number of the signal

  bool success() const noexcept { return kind == Kind::exited && value == 0; }
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};
std::string to_string(const ExitStatus& status);  // "exit 1", "signal 9"

// `not_found`: no such process. A process that ended but was not reaped still counts.
Result<Fd> pidfd_open(pid_t pid);

// The mount namespace of a process that lives: it stays while the descriptor is open. An error
// before Linux 6.11.
Result<Fd> pidfd_mount_namespace(const Fd& pidfd);

// `not_found`: it has ended and was reaped. Signal 0 only asks.
Status pidfd_send_signal(const Fd& pidfd, int signal);

// Waits for the end of a child and reaps it; afterwards the pidfd is of no use.
Result<ExitStatus> waitid(const Fd& pidfd);

// The same without waiting: nothing while the child lives. Call it when the pidfd polls readable.
Result<std::optional<ExitStatus>> try_waitid(const Fd& pidfd);

}  // namespace cordon::os
