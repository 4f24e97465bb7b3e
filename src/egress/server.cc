// SPDX-License-Identifier: Apache-2.0
#include "egress/server.h"

#include <memory>
#include <span>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "async/borrowed_fd.h"
#include "async/waiting.h"
#include "os/socket.h"

namespace cordon::egress {
namespace {

constexpr std::chrono::milliseconds kPause{2};

// The link lives as long as it is heard.
asio::awaitable<void> hear(std::shared_ptr<BrokerLink> link) { co_await link->run(); }

}  // namespace

Server::Server(Commons commons, os::Fd launcher, os::Fd node, StateFile& state)
    : commons_{std::move(commons)},
      launcher_{commons_.executor, launcher.release()},
      node_{commons_.executor, node.release()},
      state_{state},
      scope_{commons_.executor} {}

asio::awaitable<void> Server::run() {
  using namespace asio::experimental::awaitable_operators;
  node_.non_blocking(true);
  co_await (hear_launcher() || hear_node());
  for (auto& [id, ward] : wards_) co_await ward->close();
  scope_.cancel();
  co_await scope_.join();
}

asio::awaitable<void> Server::hear_launcher() {
  std::array<std::byte, 256> buffer{};
  for (;;) {
    const auto [error] =
        co_await launcher_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) co_return;
    auto got = os::receive(*async::BorrowedFd{launcher_}, buffer, 2);
    if (!got || got->bytes == 0) co_return;
    auto message = frame::decode_launcher_to_egress(std::span{buffer}.first(got->bytes));
    if (!message) co_return;
    if (const auto* listen = std::get_if<frame::Listen>(&*message)) {
      take(*listen, std::move(got->fds));
    } else {
      co_await take(std::get<frame::Forget>(*std::move(message)));
    }
  }
}

asio::awaitable<void> Server::hear_node() {
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(frame::kLongestEgressMessage);
  const std::span buffer{memory.get(), frame::kLongestEgressMessage};
  for (;;) {
    const auto [error] =
        co_await node_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) break;
    auto got = os::receive(*async::BorrowedFd{node_}, buffer, 1);
    if (!got || got->bytes == 0) break;
    auto message = frame::decode_node_to_egress(buffer.first(got->bytes));
    if (!message) {
      // It may have been a narrower policy, for any of them.
      for (auto& [id, ward] : wards_) ward->shut();
      break;
    }
    if (const auto* serve = std::get_if<frame::Serve>(&*message)) {
      take(*serve);
    } else {
      take(std::get<frame::UseBroker>(*message), std::move(got->fds));
    }
  }
  // It has gone, or is not to be believed. The launcher decides what becomes of us.
  boost::system::error_code ignored;
  node_.close(ignored);
  asio::steady_timer for_ever{commons_.executor, asio::steady_timer::time_point::max()};
  co_await for_ever.async_wait(async::kQuiet);
}

Result<Ward*> Server::ward_of(const std::string& id) {
  if (const auto found = wards_.find(id); found != wards_.end()) return found->second.get();
  TRY(const StateSlot slot, state_.slot(id));
  auto ward = std::make_unique<Ward>(
      commons_, id, slot,
      [this](const frame::EgressToNode& message) { return tell_node(message); });
  return wards_.emplace(id, std::move(ward)).first->second.get();
}

void Server::take(const frame::Listen& listen, std::vector<os::Fd> fds) {
  auto ward = ward_of(listen.id);
  // Without an answer the launcher takes us for dead, which is what we are to this sandbox.
  if (!ward || fds.size() != 2) return;
  if ((*ward)->hold(std::move(fds[0]), std::move(fds[1]))) {
    tell_launcher(frame::Holding{listen.id});
  }
}

asio::awaitable<void> Server::take(frame::Forget forget) {
  if (const auto found = wards_.find(forget.id); found != wards_.end()) {
    co_await found->second->close();
    wards_.erase(found);
    state_.forget(forget.id);
  }
  tell_launcher(frame::Forgotten{forget.id});
}

void Server::take(const frame::Serve& serve) {
  auto ward = ward_of(serve.id);
  const Status served = ward ? (*ward)->serve(serve) : Status{ward.error()};
  const auto certificate = served ? (*ward)->certificate() : Result<std::string>{served.error()};
  if (certificate) {
    answer_node(serve.id,
                frame::Serving{
                    .id = serve.id, .certificate = *certificate, .generation = serve.generation});
  } else {
    answer_node(serve.id, frame::NotServed{.id = serve.id,
                                           .text = certificate.error().text(),
                                           .generation = serve.generation});
  }
}

void Server::answer_node(const std::string& id, frame::EgressToNode answer) {
  const bool waits = !untold_.empty();
  untold_.erase(id);
  if (!waits && tell_node(answer)) return;
  untold_.emplace(id, std::move(answer));
  if (!waits) scope_.spawn(tell_answers());
}

asio::awaitable<void> Server::tell_answers() {
  asio::steady_timer pause{commons_.executor};
  while (!untold_.empty() && node_.is_open()) {
    if (tell_node(untold_.begin()->second)) {
      untold_.erase(untold_.begin());
      continue;
    }
    // A pause instead of waiting for room: reports may fill it first.
    pause.expires_after(kPause);
    if (const auto [error] = co_await pause.async_wait(async::kQuiet); error) co_return;
  }
}

void Server::take(const frame::UseBroker& /*use*/, std::vector<os::Fd> fds) {
  if (fds.size() != 1) {
    tell_node(frame::NotServed{.id = {}, .text = "no way to a broker came with it"});
    return;
  }
  const auto revoke = [this](const std::string& sandbox, const std::string& grant) {
    if (const auto found = wards_.find(sandbox); found != wards_.end())
      found->second->revoke(grant);
  };
  const auto lost = [this] {
    for (auto& [id, ward] : wards_) ward->revoke({});
  };
  // The newest is asked. An earlier one has died, whether we have heard of that or not: what was
  // asked of it is not answered, and what it gave cannot be revoked.
  if (commons_.broker) commons_.broker->give_up();
  commons_.broker =
      std::make_shared<BrokerLink>(commons_.executor, std::move(fds.front()),
                                   BrokerLink::Callbacks{.revoked = revoke, .lost = lost});
  scope_.spawn(hear(commons_.broker));
  tell_node(frame::UsingBroker{});
}

bool Server::tell_node(const frame::EgressToNode& message) {
  if (!node_.is_open()) return false;
  return os::send(*async::BorrowedFd{node_}, frame::encode(message)).has_value();
}

void Server::tell_launcher(const frame::EgressToLauncher& message) {
  static_cast<void>(os::send(*async::BorrowedFd{launcher_}, frame::encode(message)));
}

}  // namespace cordon::egress
