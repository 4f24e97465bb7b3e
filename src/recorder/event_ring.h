// SPDX-License-Identifier: Apache-2.0
// Events as the kernel hands them over: a ring of bytes, written there and read here, each record
// with a head of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.h"
#include "os/fd.h"
#include "os/mapping.h"

namespace cordon::recorder {

// One reader at a time. Polling the ring's descriptor tells of news once all was read.
class EventRing {
 public:
  // `bytes`: as many as it was made with.
  static Result<EventRing> open(const os::Fd& ring, std::size_t bytes);

  // Gives each that is there now to `take`, which must not keep it; at most `most`. True: more is
  // there. What comes meanwhile is for the next call: nobody can keep this one busy.
  bool read(std::size_t most, const std::function<void(std::span<const std::byte>)>& take);

 private:
  EventRing(os::Mapping read_to, os::Mapping written, std::size_t bytes)
      : read_to_{std::move(read_to)}, written_{std::move(written)}, bytes_{bytes} {}
  os::Mapping read_to_;  // how far we are: told to the kernel
  os::Mapping written_;  // how far it is, and the bytes, twice behind each other
  std::size_t bytes_;
};

}  // namespace cordon::recorder
