// SPDX-License-Identifier: Apache-2.0
#include "sandbox/tunnel_desk.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "async/waiting.h"

namespace cordon::sandbox {
namespace {

Error broken(int error_number) { return Error::from_errno("tunnel", error_number); }

}  // namespace

TunnelDesk::Channel::Channel(const asio::any_io_executor& executor)
    : news{executor, async::kNever}, room{executor, async::kNever} {}

// Its end closes the tunnel, also where the caller of open() has given up.
class TunnelDesk::Handle final : public Tunnel {
 public:
  Handle(TunnelDesk& desk, std::uint32_t number, Held channel, std::shared_ptr<void> keep)
      : desk_{desk}, number_{number}, channel_{std::move(channel)}, keep_{std::move(keep)} {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override {
    desk_.close(number_);
    channel_->failure = ECANCELED;  // for calls that are still under way
    channel_->news.cancel();
    channel_->room.cancel();
  }

  async::Task<std::string> read_some() override {
    return kept(keep_, desk_.read_some(number_, channel_));
  }
  async::Task<void> write(std::string bytes) override {
    return kept(keep_, desk_.write(number_, channel_, std::move(bytes)));
  }
  void shutdown_write() override { desk_.shut(number_, *channel_); }

 private:
  template <class T>
  static async::Task<T> kept(std::shared_ptr<void> keep, async::Task<T> task) {
    const auto held = std::move(keep);
    co_return co_await std::move(task);
  }

  TunnelDesk& desk_;
  std::uint32_t number_;
  Held channel_;
  std::shared_ptr<void> keep_;
};

TunnelDesk::TunnelDesk(asio::any_io_executor executor, Outbox& outbox)
    : executor_{std::move(executor)}, outbox_{outbox} {}

async::Task<std::unique_ptr<Tunnel>> TunnelDesk::open(std::uint16_t port,
                                                      std::shared_ptr<void> keep) {
  if (channels_.size() >= frame::kMostTunnels) {
    co_return Error{Errc::exhausted, "too many tunnels into this sandbox are open"};
  }
  if (outbox_.ended()) co_return outbox_.why();
  const std::uint32_t number = next_++;
  const Held channel =
      channels_.emplace(number, std::make_shared<Channel>(executor_)).first->second;
  std::unique_ptr<Tunnel> tunnel =
      std::make_unique<Handle>(*this, number, channel, std::move(keep));
  outbox_.send(frame::OpenTunnel{number, port});
  while (!channel->opened && channel->failure == 0) {
    if (outbox_.ended()) co_return outbox_.why();
    co_await channel->news.async_wait(async::kQuiet);
  }
  if (channel->failure != 0) {
    co_return broken(channel->failure).with("port " + std::to_string(port));
  }
  co_return tunnel;
}

async::Task<std::string> TunnelDesk::read_some(std::uint32_t number, Held from) {
  while (from->arrived.empty()) {
    if (from->ended) co_return std::string{};
    if (from->failure != 0) co_return broken(from->failure);
    if (outbox_.ended()) co_return outbox_.why();
    co_await from->news.async_wait(async::kQuiet);
  }
  std::string bytes = std::move(from->arrived.front());
  from->arrived.pop_front();
  from->taken += bytes.size();
  if (from->taken - from->taken_told >= frame::kTunnelWindow / 4 || from->arrived.empty()) {
    from->taken_told = from->taken;
    if (from->failure == 0) outbox_.send(frame::TunnelTaken{number, from->taken});
  }
  co_return bytes;
}

async::Task<void> TunnelDesk::write(std::uint32_t number, Held to, std::string bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    while (to->sent - to->confirmed >= frame::kTunnelWindow && to->failure == 0 && !to->shut &&
           !outbox_.ended()) {
      co_await to->room.async_wait(async::kQuiet);
    }
    co_await outbox_.room();
    if (outbox_.ended()) co_return outbox_.why();
    if (to->failure != 0) co_return broken(to->failure);
    if (to->shut) co_return Error{Errc::invalid, "a write behind the end of a tunnel"};
    const std::uint64_t unconfirmed = to->sent - to->confirmed;
    if (unconfirmed >= frame::kTunnelWindow) continue;  // another writer was quicker
    const std::size_t count = std::min<std::size_t>(
        {bytes.size() - at, frame::kTunnelWindow - unconfirmed, frame::kMostData});
    outbox_.send(frame::TunnelData{number, bytes.substr(at, count)});
    to->sent += count;
    at += count;
  }
  co_return Status{};
}

void TunnelDesk::shut(std::uint32_t number, Channel& channel) {
  if (std::exchange(channel.shut, true) || channel.failure != 0) return;
  channel.room.cancel();
  outbox_.send(frame::TunnelEnd{number});
}

void TunnelDesk::close(std::uint32_t number) {
  const auto found = channels_.find(number);
  if (found == channels_.end()) return;
  const Channel& channel = *found->second;
  const bool is_over = channel.failure != 0 || (channel.ended && channel.shut);
  if (!is_over) outbox_.send(frame::CloseTunnel{number});
  channels_.erase(found);
}

Result<TunnelDesk::Held> TunnelDesk::told_of(std::uint32_t number) const {
  if (number == 0 || number >= next_) return protocol_error("a tunnel that was never opened");
  const auto found = channels_.find(number);
  return found == channels_.end() ? nullptr : found->second;
}

Status TunnelDesk::take(const frame::TunnelOpened& opened) {
  TRY(const Held channel, told_of(opened.tunnel));
  if (!channel) return {};
  channel->opened = true;
  channel->news.cancel();
  return {};
}

Status TunnelDesk::take(const frame::TunnelFailed& failed) {
  TRY(const Held channel, told_of(failed.tunnel));
  if (!channel) return {};
  channel->failure = failed.error_number != 0 ? failed.error_number : EIO;
  channel->news.cancel();
  channel->room.cancel();
  return {};
}

Status TunnelDesk::take(frame::TunnelData data) {
  TRY(const Held channel, told_of(data.tunnel));
  if (!channel || data.bytes.empty()) return {};
  if (!channel->opened || channel->ended) return protocol_error("bytes of a tunnel that has none");
  channel->received += data.bytes.size();
  if (channel->received - channel->taken_told > frame::kTunnelWindow) {
    return protocol_error("more bytes of a tunnel than its window");
  }
  channel->arrived.push_back(std::move(data.bytes));
  channel->news.cancel();
  return {};
}

Status TunnelDesk::take(const frame::TunnelEnd& end) {
  TRY(const Held channel, told_of(end.tunnel));
  if (!channel) return {};
  channel->ended = true;
  channel->news.cancel();
  return {};
}

Status TunnelDesk::take(const frame::TunnelTaken& taken) {
  TRY(const Held channel, told_of(taken.tunnel));
  if (!channel) return {};
  if (taken.count > channel->sent) return protocol_error("tunnel bytes that were never sent");
  channel->confirmed = std::max(channel->confirmed, taken.count);
  channel->room.cancel();
  return {};
}

void TunnelDesk::end() {
  for (const auto& [number, channel] : channels_) {
    channel->news.cancel();
    channel->room.cancel();
  }
}

}  // namespace cordon::sandbox
