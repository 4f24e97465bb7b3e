// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cordon::journal {

Journal::Journal(Ledger ledger) : ledger_{std::move(ledger)}, writer_{[this] { work(); }} {}

Journal::~Journal() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  wake_.notify_one();
  writer_.join();
}

std::uint64_t Journal::commits() const {
  const std::lock_guard lock{mutex_};
  return commits_;
}

async::Task<void> Journal::write(Durability durability, Change change) {
  auto initiate = [this, durability](auto handler, Change wanted) {
    // Tracked: the loop must not run out of work while its answer is on the way.
    auto home = asio::prefer(asio::get_associated_executor(handler),
                             asio::execution::outstanding_work.tracked);
    // A std::function must be copyable; the handler is not.
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto done = [home = std::move(home), shared = std::move(shared)](Status status) {
      asio::post(home, [shared, status = std::move(status)]() mutable {
        std::move (*shared)(std::exception_ptr{}, std::optional<Status>{std::move(status)});
      });
    };
    {
      const std::lock_guard lock{mutex_};
      if (waiting_.size() < kMostWaiting) {
        waiting_.push_back({durability, std::move(wanted), std::move(done)});
        wake_.notify_one();
        return;
      }
    }
    done(Error{Errc::exhausted, "journal: too many changes wait to be written"});
  };
  using Signature = void(std::exception_ptr, std::optional<Status>);
  std::optional<Status> status =
      co_await asio::async_initiate<const asio::use_awaitable_t<>&, Signature>(
          std::move(initiate), asio::use_awaitable, std::move(change));
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): always given
  co_return *std::move(status);
}

void Journal::work() {
  for (;;) {
    std::deque<Waiting> batch;
    {
      std::unique_lock lock{mutex_};
      wake_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      while (!waiting_.empty() && batch.size() < kMostInOne) {
        batch.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
    }
    commit(std::move(batch));
  }
}

void Journal::commit(std::deque<Waiting> batch) {
  const bool durable = std::ranges::any_of(
      batch, [](const Waiting& each) { return each.durability == Durability::power; });
  std::vector<Status> results;
  results.reserve(batch.size());
  Status whole = ledger_.begin(durable);
  if (whole) {
    for (const Waiting& each : batch) results.push_back(each.change(ledger_));
    whole = ledger_.commit();
    if (!whole) ledger_.roll_back();
  }
  {
    const std::lock_guard lock{mutex_};
    ++commits_;
  }
  for (std::size_t at = 0; at < batch.size(); ++at) {
    batch[at].done(whole ? std::move(results[at]) : whole);
  }
}

}  // namespace cordon::journal
