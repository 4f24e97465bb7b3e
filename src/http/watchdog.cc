// SPDX-License-Identifier: Apache-2.0
#include "http/watchdog.h"

#include <algorithm>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/stream.h"

namespace cordon::http {

asio::awaitable<void> Watchdog::run() {
  while (!is_stopped_) {
    armed_ = std::max(earliest(), looked_ + pace_);
    timer_.expires_at(armed_);
    boost::system::error_code moved;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, moved));
    if (moved) continue;
    const Ticks now = looked_ = std::chrono::steady_clock::now();
    for (Stream* const stream : streams_) {
      if (stream->waiting_ == 0) continue;
      if (stream->deadline() <= now) {
        stream->expire();
      } else if (stream->nudge_ <= now) {
        stream->nudge();
      } else if (stream->rest_time() <= now) {
        stream->rest();
      }
    }
  }
}

void Watchdog::stop() {
  is_stopped_ = true;
  timer_.cancel();
}

void Watchdog::expect(Ticks deadline) {
  if (std::max(deadline, looked_ + pace_) < armed_) timer_.cancel();
}

void Watchdog::add(Stream& stream) {
  stream.watched_at_ = streams_.size();
  streams_.push_back(&stream);
}

void Watchdog::remove(const Stream& stream) {
  Stream* const last = streams_.back();
  streams_[stream.watched_at_] = last;
  last->watched_at_ = stream.watched_at_;
  streams_.pop_back();
}

Ticks Watchdog::earliest() const {
  Ticks first = Ticks::max();
  for (const Stream* const stream : streams_) {
    if (stream->waiting_ > 0)
      first = std::min({first, stream->deadline(), stream->rest_time(), stream->nudge_});
  }
  return first;
}

}  // namespace cordon::http
