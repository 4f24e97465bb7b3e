// SPDX-License-Identifier: Apache-2.0
// What the programs of a machine's sandbox do, as the machine's own kernel tells it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/guest_trace.h"
#include "os/fd.h"
#include "recorder/event_ring.h"
#include "recorder/watch_table.h"

namespace cordon::guest {

class MachineRecorder {
 public:
  // By cordon-bpf, which has ended when this returns. Needs a machine of our own: the program runs
  // in its kernel.
  static Result<MachineRecorder> load();

  // All that is done by who is in that control group, from now on.
  Status watch(const std::string& group);
  // Polls readable when there is something new to take.
  const os::Fd& news() const noexcept { return parts_[1]; }
  // A frame's worth of what was told since. Nothing: nothing new.
  std::optional<frame::Traced> take();

 private:
  MachineRecorder(std::vector<os::Fd> parts, recorder::WatchTable table, recorder::EventRing ring)
      : parts_{std::move(parts)}, table_{std::move(table)}, ring_{std::move(ring)} {}

  std::vector<os::Fd> parts_;  // they hold the program in the kernel
  recorder::WatchTable table_;
  recorder::EventRing ring_;
  std::uint64_t group_ = 0;
  recorder::Untold told_;
};

}  // namespace cordon::guest
