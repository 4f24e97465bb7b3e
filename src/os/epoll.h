// SPDX-License-Identifier: Apache-2.0
// Waiting on several descriptors, for programs without an event loop of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <sys/epoll.h>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct EpollEvent {
  std::uint64_t tag = 0;     // as given to add
  std::uint32_t events = 0;  // EPOLLIN, EPOLLHUP, …
};

class Epoll {
 public:
  static Result<Epoll> create();

  // Level-triggered unless EPOLLET is among `events`. The registration is of the open file: it
  // outlives this descriptor while a duplicate, also in a child, is open. Remove before closing.
  Status add(const Fd& fd, std::uint32_t events, std::uint64_t tag) const;
  Status modify(const Fd& fd, std::uint32_t events, std::uint64_t tag) const;
  Status remove(const Fd& fd) const;

  // Waits until something is ready or `limit` (absent: for ever) is over; empty after that, and
  // after a signal.
  Result<std::vector<EpollEvent>> wait(std::optional<std::chrono::milliseconds> limit) const;

 private:
  explicit Epoll(Fd fd) noexcept : fd_{std::move(fd)} {}
  Fd fd_;
};

}  // namespace cordon::os
