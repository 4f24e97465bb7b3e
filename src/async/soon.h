// SPDX-License-Identifier: Apache-2.0
// Soon: something that is done a moment after it was first wanted, once for all who wanted it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"

namespace cordon::async {

// Used from the loop's thread only. Nothing is done any more once it is destroyed.
class Soon {
 public:
  Soon(const asio::any_io_executor& executor, std::chrono::milliseconds moment,
       std::function<void()> act)
      : state_{std::make_shared<State>(asio::steady_timer{executor}, moment, std::move(act))} {}
  Soon(const Soon&) = delete;
  Soon& operator=(const Soon&) = delete;
  ~Soon() { state_->timer.cancel(); }

  void want() {
    if (state_->is_wanted) return;
    state_->is_wanted = true;
    state_->timer.expires_after(state_->moment);
    // Weak: the timer may have fired already when this goes.
    state_->timer.async_wait(
        [weak = std::weak_ptr{state_}](const boost::system::error_code& error) {
          const auto state = weak.lock();
          if (error || !state) return;
          state->is_wanted = false;
          state->act();
        });
  }

 private:
  struct State {
    asio::steady_timer timer;
    std::chrono::milliseconds moment;
    std::function<void()> act;
    bool is_wanted = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace cordon::async
