// SPDX-License-Identifier: Apache-2.0
// Who listens to the trace session of an engine: one connection, packets in, acts out. What comes
// there is an engine's word and may be anything; no packet of it can do more than be counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frame/guest_trace.h"
#include "os/fd.h"
#include "relay/family.h"
#include "relay/trace_packet.h"
#include "relay/unnamed.h"

namespace cordon::relay {

class Tracer {
 public:
  struct Untold {
    std::uint64_t lost = 0;
    std::uint64_t unnamed = 0;
  };
  // `listener`: where the engine comes, once; it does not block. None: nothing is told.
  explicit Tracer(os::Fd listener) : listener_{std::move(listener)} {}

  // To be polled for what may be read; negative: there is nothing to hear.
  int descriptor() const noexcept;
  // How long hear() may wait for news, in milliseconds; negative: for ever.
  int patience() const noexcept;

  // What is there, a frame's worth of it. True: there may be more.
  bool hear();
  // What was heard has gathered for long enough: a frame, and a write of the host's log, cost more
  // than an act.
  bool is_due() const;
  // Nothing is waited for any more.
  void settle() { unnamed_.give_up_all(); }
  // What was heard since it was asked last, one whole frame at most. Nothing: nothing new.
  std::optional<frame::Traced> take();
  // Of what was taken so much has not been passed on: it is told as lost with the next.
  void lose(const Untold& untold) noexcept;

 private:
  void welcome();
  void shake_hands(std::span<const std::byte> packet);
  void note(std::span<const std::byte> packet);
  void note_dropped(std::uint32_t dropped);
  void note_act(frame::TracedAct act);

  os::Fd listener_;
  os::Fd peer_;
  bool is_known_ = false;        // hands were shaken
  std::vector<std::byte> room_;  // for one packet
  Family family_;
  Unnamed unnamed_;
  std::vector<frame::TracedAct> acts_;
  std::chrono::steady_clock::time_point since_;
  std::size_t bytes_ = 0;      // of them, about
  std::uint32_t dropped_ = 0;  // as the engine last counted
  Untold untold_;
};

}  // namespace cordon::relay
