// SPDX-License-Identifier: Apache-2.0
#include "node/tenant_network.h"

#include <algorithm>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/waiting.h"
#include "base/log.h"
#include "node/replacement.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr std::chrono::seconds kTenantEgressAnswer{10};
// For a socket that is full.
constexpr std::chrono::milliseconds kAgain{2};
constexpr int kMostHeardAtOnce = 256;
constexpr int kMostAtEnd = 4;  // times so many

}  // namespace

TenantNetwork::TenantNetwork(asio::any_io_executor executor, Open open)
    : executor_{std::move(executor)},
      open_{std::move(open)},
      wanted_{executor_, asio::steady_timer::time_point::max()},
      answered_{executor_, asio::steady_timer::time_point::max()} {}

void TenantNetwork::send_unsent() {
  for (auto& [id, member] : members_) {
    if (member.is_sent || !link_) continue;
    member.is_sent = os::send(link_, frame::encode(frame::NodeToEgress{member.serve})).has_value();
    if (!member.is_sent) return;
  }
}

void TenantNetwork::answer(const std::string& id, std::uint64_t generation,
                           Result<frame::Serving> answer) {
  const auto member = members_.find(id);
  // One that was sent before another was is of no interest any more.
  if (member == members_.end() || member->second.serve.generation != generation) return;
  member->second.answer = std::move(answer);
  answered_.cancel();
}

void TenantNetwork::hear(const frame::EgressToNode& message) {
  const auto ears_of = [&](const std::string& id) -> const NetworkEars* {
    const auto member = members_.find(id);
    return member == members_.end() ? nullptr : &member->second.ears;
  };
  if (const auto* used = std::get_if<frame::NetUses>(&message)) {
    for (const frame::NetUsed& use : used->uses) {
      if (const NetworkEars* const ears = ears_of(use.id)) ears->used({&use, 1});
    }
  } else if (const auto* refused = std::get_if<frame::NetRefused>(&message)) {
    if (const NetworkEars* const ears = ears_of(refused->id)) ears->refused(*refused);
  } else if (const auto* sent = std::get_if<frame::NetSent>(&message)) {
    const NetworkEars* const ears = ears_of(sent->id);
    if (ears != nullptr && ears->sent) ears->sent(sent->bytes);
  } else if (const auto* serving = std::get_if<frame::Serving>(&message)) {
    answer(serving->id, serving->generation, *serving);
  } else if (const auto* not_served = std::get_if<frame::NotServed>(&message)) {
    answer(not_served->id, not_served->generation,
           Error{Errc::unavailable, "cordon-egress: " + not_served->text});
  }
}

// False: the egress has ended.
bool TenantNetwork::hear_waiting() {
  buffer_.resize(frame::kLongestEgressMessage);
  for (int i = 0; i < kMostHeardAtOnce; ++i) {
    auto got = os::receive_now(link_, buffer_);
    // One that ended before it had read everything leaves its last words behind this error.
    if (!got && got.error().cause() == std::errc::connection_reset) {
      got = os::receive_now(link_, buffer_);
    }
    if (!got) return os::would_wait(got.error());
    if (got->bytes == 0) return false;
    const auto message = frame::decode_egress_to_node(std::span{buffer_}.first(got->bytes));
    if (!message) return false;
    hear(*message);
  }
  return true;
}

asio::awaitable<void> TenantNetwork::serve_link() {
  using asio::experimental::awaitable_operators::operator||;
  auto copy = os::duplicate(link_);
  if (!copy) co_return;
  asio::posix::stream_descriptor watched{executor_, copy->release()};
  for (auto& [id, member] : members_) member.is_sent = false;
  while (hear_waiting()) {
    send_unsent();
    const bool is_full =
        std::ranges::any_of(members_, [](const auto& each) { return !each.second.is_sent; });
    wanted_.expires_after(is_full ? kAgain : std::chrono::hours{24});
    const auto woken =
        co_await (watched.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet) ||
                  wanted_.async_wait(async::kQuiet));
    static_cast<void>(woken);
  }
}

async::Task<void> TenantNetwork::open() {
  os::Fd state;
  if (state_) {
    CO_TRY(state, os::duplicate(state_));
  }
  CO_TRY(sandbox::OpenedEgress opened, co_await open_(std::move(state)));
  CO_TRY_DO(os::set_nonblocking(opened.link, true));
  link_ = std::move(opened.link);
  state_ = std::move(opened.state);
  co_return Status{};
}

asio::awaitable<void> TenantNetwork::keep() {
  auto pause = kFirstPause;
  for (;;) {
    while (members_.empty() && !is_wanted_) {
      wanted_.expires_at(asio::steady_timer::time_point::max());
      co_await wanted_.async_wait(async::kQuiet);
    }
    const Ticks began = std::chrono::steady_clock::now();
    const Status opened = co_await open();
    if (opened) {
      if (when_opened_) static_cast<void>(co_await when_opened_());
      co_await serve_link();
      link_ = {};
    } else {
      log(LogLevel::error, "node", "no egress", {{"failure", opened.error().text()}});
    }
    if (std::chrono::steady_clock::now() - began > kQuietLife) pause = kFirstPause;
    asio::steady_timer timer{executor_, pause};
    co_await timer.async_wait(async::kQuiet);
    pause = std::min(pause * 2, kLongestPause);
  }
}

void TenantNetwork::serve_again(frame::Serve serve, NetworkEars ears) {
  const std::string id = serve.id;
  serve.generation = ++generation_;
  members_.insert_or_assign(
      id, Member{.serve = std::move(serve), .ears = std::move(ears), .answer = {}});
  wanted_.cancel();
}

async::Task<frame::Serving> TenantNetwork::serve(frame::Serve serve, NetworkEars ears) {
  const std::string id = serve.id;
  serve_again(std::move(serve), std::move(ears));
  const Ticks late = std::chrono::steady_clock::now() + kTenantEgressAnswer;
  while (std::chrono::steady_clock::now() < late) {
    const auto member = members_.find(id);
    if (member == members_.end()) {
      co_return Error{Errc::unavailable, "the sandbox has ended meanwhile"};
    }
    if (auto answer = member->second.answer) co_return *std::move(answer);
    answered_.expires_at(late);
    co_await answered_.async_wait(async::kQuiet);
  }
  co_return Error{Errc::timeout, "cordon-egress has not confirmed the policy"};
}

async::Task<void> TenantNetwork::change(frame::Serve serve) {
  const auto member = members_.find(serve.id);
  if (member == members_.end()) co_return Error{Errc::not_found, "the sandbox has no network"};
  NetworkEars ears = member->second.ears;
  const auto serving = co_await this->serve(std::move(serve), std::move(ears));
  if (!serving) co_return serving.error();
  co_return Status{};
}

async::Task<void> TenantNetwork::opened() {
  is_wanted_ = true;
  wanted_.cancel();
  const Ticks late = std::chrono::steady_clock::now() + kTenantEgressAnswer;
  while (!link_) {
    if (std::chrono::steady_clock::now() >= late) {
      co_return Error{Errc::timeout, "cordon-egress does not start"};
    }
    asio::steady_timer look{executor_, kAgain};
    co_await look.async_wait(async::kQuiet);
  }
  co_return Status{};
}

async::Task<void> TenantNetwork::use_broker(os::Fd socket) {
  if (!link_) co_return Error{Errc::unavailable, "cordon-egress has ended"};
  const os::Fd* const beside = &socket;
  const auto sent =
      os::send(link_, frame::encode(frame::NodeToEgress{frame::UseBroker{}}), {&beside, 1});
  if (!sent) co_return sent.error();
  co_return Status{};
}

void TenantNetwork::forget(const std::string& id) {
  // Its last words were said before its end was known. What ails the link, serve_link() finds too.
  for (int i = 0; link_ && i < kMostAtEnd && hear_waiting(); ++i) {
  }
  members_.erase(id);
}

}  // namespace cordon::node
