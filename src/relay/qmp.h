// SPDX-License-Identifier: Apache-2.0
// A QEMU monitor (QMP), asked one thing after the other.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::relay {

// What is asked is our own text; what comes back is believed in so far as it ends a wait. Each call
// waits for its answer, and no longer than kMonitorPatience.
class Qmp {
 public:
  explicit Qmp(const os::Fd& socket) : socket_{socket} {}

  // Its greeting, and ours.
  Status begin();
  // `command`: {"execute": …}. Gives the line with its answer; an Error for one that is refused.
  Result<std::string> ask(std::string_view command);
  // The monitor knows `fd` by that name then.
  Status hand_over(const os::Fd& fd, std::string_view name);
  // Several commands, a line each, with `fd` beside them.
  Status say(std::string_view lines, const os::Fd& fd);
  // So many answers, and then or before an event.
  Status await(std::size_t answers, std::string_view event);

 private:
  Result<std::string> next_line();
  // To what was asked last: events before it are passed over.
  Result<std::string> answer();

  const os::Fd& socket_;
  std::string bytes_;
};

// Writes the state of a machine that shares its memory with a file to `state`. Before: begin.
Status save_machine(Qmp& qmp, const os::Fd& state);
// Makes a machine that was started empty that one, and waits until it runs. In place of begin: all
// is said before anybody listens, so that nothing is waited for but the end of it.
Status load_machine(Qmp& qmp, const os::Fd& state);

}  // namespace cordon::relay
