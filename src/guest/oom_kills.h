// SPDX-License-Identifier: Apache-2.0
// How many processes the kernel has ended for want of memory. In a machine these are the sandbox's.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

class OomKills {
 public:
  // Held open: the way to it may lead through files that somebody else serves.
  static Result<OomKills> open();

  // Of the whole kernel. One that does not count them has ended none that we know of.
  std::uint64_t count() const;

 private:
  explicit OomKills(os::Fd file) noexcept : file_{std::move(file)} {}

  os::Fd file_;
};

}  // namespace cordon::guest
