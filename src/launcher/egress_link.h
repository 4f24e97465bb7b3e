// SPDX-License-Identifier: Apache-2.0
// The launcher's end of a cordon-egress: sockets of sandboxes go over and come back. What is at the
// other end reads what attackers write, so that nothing of it is believed and nothing of it is
// waited for without an end.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "base/result.h"
#include "frame/egress.h"
#include "os/fd.h"
#include "os/steering.h"

namespace cordon::launcher {

class EgressLink {
 public:
  // It has one loop and answers at its next turn; behind that it is stuck, or somebody else's.
  static constexpr std::chrono::milliseconds kPatience{2'000};

  // Its first answer comes when it has started, which takes as long as the machine is busy; until
  // then it has read nothing of anybody.
  static constexpr std::chrono::milliseconds kStart{10'000};

  static Result<EgressLink> over(os::Fd socket, std::chrono::milliseconds patience = kPatience,
                                 std::chrono::milliseconds start = kStart);

  // Each returns when it is confirmed. After an Error the other end is to be ended: it has not
  // taken the message or not answered in time, or said something else.
  Status give(const std::string& id, const os::SteeredSockets& sockets);
  Status take_back(const std::string& id);

 private:
  using Ticks = std::chrono::steady_clock::time_point;

  EgressLink(os::Fd socket, std::chrono::milliseconds patience, std::chrono::milliseconds start)
      : socket_{std::move(socket)}, patience_{patience}, next_{start} {}
  Status send(const frame::LauncherToEgress& message, std::span<const os::Fd* const> fds,
              Ticks late);
  Result<frame::EgressToLauncher> hear(Ticks late);
  Status wait(short what, Ticks late) const;
  Ticks late() const { return std::chrono::steady_clock::now() + next_; }

  os::Fd socket_;
  std::chrono::milliseconds patience_;
  std::chrono::milliseconds next_;  // for the next answer
};

}  // namespace cordon::launcher
