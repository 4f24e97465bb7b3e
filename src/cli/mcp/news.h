// SPDX-License-Identifier: Apache-2.0
// Somebody has news, and others wait for it, for a while.
#pragma once

#include <list>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/waiting.h"
#include "base/clock.h"

namespace cordon::cli {

// Used from the loop's thread only.
class News {
 public:
  News() = default;
  News(const News&) = delete;
  News& operator=(const News&) = delete;

  // Wakes all who wait.
  void tell() {
    for (asio::steady_timer* const timer : waiting_) timer->cancel();
  }

  // Until there may be some, or `deadline`. It outlives this.
  asio::awaitable<void> wait(Ticks deadline) {
    asio::steady_timer timer{co_await asio::this_coro::executor, deadline};
    const Waiting waiting{*this, timer};
    co_await timer.async_wait(async::kQuiet);
  }

 private:
  // However the wait ends: a caller that is cancelled is thrown out of it.
  class Waiting {
   public:
    Waiting(News& news, asio::steady_timer& timer)
        : news_{news}, place_{news.waiting_.insert(news.waiting_.end(), &timer)} {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { news_.waiting_.erase(place_); }

   private:
    News& news_;
    std::list<asio::steady_timer*>::iterator place_;
  };

  std::list<asio::steady_timer*> waiting_;
};

}  // namespace cordon::cli
