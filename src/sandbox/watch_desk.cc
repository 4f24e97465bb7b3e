// SPDX-License-Identifier: Apache-2.0
#include "sandbox/watch_desk.h"

#include <cerrno>
#include <utility>

#include "async/waiting.h"

namespace cordon::sandbox {
namespace {

Error ended_by(int error_number) {
  if (error_number == 0) return Error{Errc::not_found, "what was watched is gone"};
  return Error::from_errno("watch", error_number);
}

}  // namespace

WatchDesk::Channel::Channel(const asio::any_io_executor& executor)
    : news{executor, asio::steady_timer::time_point::max()} {}

// Its end stops the watch, also where the caller of begin() has given up.
class WatchDesk::Handle final : public Watch {
 public:
  Handle(WatchDesk& desk, std::uint32_t number, Held channel, std::shared_ptr<void> keep)
      : desk_{desk}, number_{number}, channel_{std::move(channel)}, keep_{std::move(keep)} {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override {
    desk_.stop(number_);
    channel_->ended = ECANCELED;  // for a call that is still under way
    channel_->news.cancel();
  }

  async::Task<frame::WatchEvents> next() override { return kept(keep_, desk_.next(channel_)); }

 private:
  static async::Task<frame::WatchEvents> kept(std::shared_ptr<void> keep,
                                              async::Task<frame::WatchEvents> task) {
    const auto held = std::move(keep);
    co_return co_await std::move(task);
  }

  WatchDesk& desk_;
  std::uint32_t number_;
  Held channel_;
  std::shared_ptr<void> keep_;
};

WatchDesk::WatchDesk(asio::any_io_executor executor, Outbox& outbox)
    : executor_{std::move(executor)}, outbox_{outbox} {}

async::Task<std::unique_ptr<Watch>> WatchDesk::begin(frame::StartWatch wanted,
                                                     std::shared_ptr<void> keep) {
  if (channels_.size() >= frame::kMostWatches) {
    co_return Error{Errc::exhausted, "too many watches in this sandbox"};
  }
  wanted.watch = next_++;
  const Held channel =
      channels_.emplace(wanted.watch, std::make_shared<Channel>(executor_)).first->second;
  std::unique_ptr<Watch> watch =
      std::make_unique<Handle>(*this, wanted.watch, channel, std::move(keep));
  outbox_.send(std::move(wanted));
  while (!channel->begun && !channel->ended) {
    if (outbox_.ended()) co_return outbox_.why();
    co_await channel->news.async_wait(async::kQuiet);
  }
  if (!channel->begun) co_return ended_by(channel->ended.value_or(0));
  co_return watch;
}

async::Task<frame::WatchEvents> WatchDesk::next(Held from) {
  while (from->waiting.events.empty() && !from->waiting.lost) {
    if (const auto ended = from->ended) co_return ended_by(*ended);
    if (outbox_.ended()) co_return outbox_.why();
    co_await from->news.async_wait(async::kQuiet);
  }
  from->waiting_bytes = 0;
  co_return std::exchange(from->waiting, {});
}

void WatchDesk::stop(std::uint32_t number) {
  const auto found = channels_.find(number);
  if (found == channels_.end()) return;
  if (!found->second->ended) outbox_.send(frame::StopWatch{number});
  channels_.erase(found);
}

Result<WatchDesk::Held> WatchDesk::told_of(std::uint32_t number) const {
  if (number == 0 || number >= next_) return protocol_error("a watch that was never begun");
  const auto found = channels_.find(number);
  return found == channels_.end() ? nullptr : found->second;
}

Status WatchDesk::take(const frame::WatchBegun& begun) {
  TRY(const Held channel, told_of(begun.watch));
  if (!channel) return {};
  channel->begun = true;
  channel->news.cancel();
  return {};
}

Status WatchDesk::take(frame::WatchEvents told) {
  TRY(const Held channel, told_of(told.watch));
  if (!channel) return {};
  frame::WatchEvents& waiting = channel->waiting;
  waiting.watch = told.watch;
  for (frame::WatchEvent& event : told.events) {
    channel->waiting_bytes += event.name.size();
    waiting.events.push_back(std::move(event));
    if (waiting.events.size() <= kMostWaiting && channel->waiting_bytes <= kMostWaitingBytes) {
      continue;
    }
    waiting.events.clear();
    channel->waiting_bytes = 0;
    waiting.lost = true;
  }
  waiting.lost = waiting.lost || told.lost;
  channel->news.cancel();
  return {};
}

Status WatchDesk::take(const frame::WatchEnded& ended) {
  TRY(const Held channel, told_of(ended.watch));
  if (!channel) return {};
  channel->ended = ended.error_number;
  channel->news.cancel();
  return {};
}

void WatchDesk::end() {
  for (const auto& [number, channel] : channels_) channel->news.cancel();
}

}  // namespace cordon::sandbox
