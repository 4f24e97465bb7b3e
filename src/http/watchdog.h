// SPDX-License-Identifier: Apache-2.0
// Ends waits that last too long, and lets streams rest in others: one timer for many streams, moved
// seldom.
#pragma once

#include <chrono>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"

namespace cordon::http {

class Stream;

// A deadline for each wait would cost a timer for each; here a wait only notes when it began, and
// the timer, when it fires, looks who has waited too long.
class Watchdog {
 public:
  // It looks at most once in `pace`, and so ends a wait that much late: with many streams a look
  // costs.
  explicit Watchdog(const asio::any_io_executor& executor,
                    std::chrono::nanoseconds pace = std::chrono::nanoseconds{0})
      : timer_{executor}, pace_{pace} {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Runs in a scope beside the connection, until stop(). A stream that has waited too long is
  // closed, and its wait fails with Errc::timeout.
  asio::awaitable<void> run();
  void stop();

 private:
  friend class Stream;
  void add(Stream& stream);
  void remove(const Stream& stream);
  // A wait has begun that ends at `deadline`.
  void expect(Ticks deadline);
  Ticks earliest() const;

  asio::steady_timer timer_;
  std::chrono::nanoseconds pace_;
  std::vector<Stream*> streams_;
  Ticks armed_ = Ticks::max();
  Ticks looked_{};  // when it fired last
  bool is_stopped_ = false;
};

}  // namespace cordon::http
