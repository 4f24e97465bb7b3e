// SPDX-License-Identifier: Apache-2.0
// A list of cancellation signals, one for each running task.
#include "async/scope.h"

#include <cstdlib>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"

namespace cordon::async {

Scope::Scope(const asio::any_io_executor& executor)
    : idle_{executor, asio::steady_timer::time_point::max()} {}

Scope::~Scope() {
  if (children_.empty()) return;
  log(LogLevel::error, "async", "a scope died before it was joined",
      {{"running", static_cast<std::int64_t>(children_.size())}});
  std::abort();
}

Scope::Child Scope::spawn(asio::awaitable<void> task) {
  const auto child = children_.emplace(children_.end());
  auto on_end = [this, child](const std::exception_ptr& failure) { ended(child, failure); };
  asio::co_spawn(idle_.get_executor(), std::move(task),
                 asio::bind_cancellation_slot(child->slot(), std::move(on_end)));
  // co_spawn only posts: the task has not begun, and its first co_await will throw.
  if (cancelled_) child->emit(asio::cancellation_type::terminal);
  return child;
}

void Scope::ended(Child child, const std::exception_ptr& failure) {
  // `cancel` may stand on this very signal, or on the one before it.
  if (walking_) {
    ended_.splice(ended_.end(), children_, child);
  } else {
    children_.erase(child);
  }
  if (children_.empty()) idle_.cancel();
  if (failure && !(cancelled_ && is_cancellation(failure))) std::rethrow_exception(failure);
}

void Scope::cancel() {
  cancelled_ = true;
  if (walking_) return;
  walking_ = true;
  for (auto child = children_.begin(); child != children_.end();) {
    child->emit(asio::cancellation_type::terminal);
    // A child that ended within emit moved to ended_, where `next` would leave the walk.
    child = ended_.empty() ? std::next(child) : children_.begin();
    ended_.clear();
  }
  walking_ = false;
}

asio::awaitable<void> Scope::join() {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  const asio::cancellation_state caller = co_await asio::this_coro::cancellation_state;
  while (!children_.empty()) {
    if (caller.cancelled() != asio::cancellation_type::none && !cancelled_) cancel();
    if (children_.empty()) break;
    // Ends with operation_aborted whether the last child ended or the caller was cancelled.
    co_await idle_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
}

}  // namespace cordon::async
