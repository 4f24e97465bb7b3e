// SPDX-License-Identifier: Apache-2.0
// Acts that nobody is told of because of their names.
//
// runsc writes messages in which every text must be UTF-8, and where a path, an argument or a
// directory is none it sends nothing and counts nothing. So that nobody hides behind such a name,
// each of these calls is asked for twice: by its number alone, which can always be told and comes
// first, and with its names. A number whose names do not follow is an act of this kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

#include "frame/guest_trace.h"
#include "relay/trace_packet.h"

namespace cordon::relay {

// Of an open or an exec that has ended so, whether it is told at all: what was done, of opens only
// to write, and what a fence may have refused.
bool is_told(frame::TracedKind kind, std::uint32_t error_number, std::uint32_t flags);

class Unnamed {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void called(const TracedNumber& number, Time now);
  void named(const frame::TracedAct& act);
  // Names come at once, or on a busy machine a little later; these are not waited for any more.
  void give_up(Time now);
  void give_up_all();

  bool is_waiting() const noexcept { return !waiting_.empty(); }
  // Since it was asked last.
  std::uint64_t take() noexcept { return std::exchange(count_, 0); }

 private:
  struct Waiting {
    TracedNumber number;
    Time since;
  };
  std::deque<Waiting> waiting_;  // the oldest first
  std::uint64_t count_ = 0;
};

}  // namespace cordon::relay
