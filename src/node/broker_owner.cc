// SPDX-License-Identifier: Apache-2.0
#include "node/broker_owner.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "async/borrowed_fd.h"
#include "async/waiting.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr std::chrono::milliseconds kBetweenAsks{10};

Error gone() { return Error{Errc::unavailable, "the broker has ended"}; }

// As the broker's own (serve.cc); what was not taken as it was given is a refusal.
Errc code_of(std::string_view code) {
  if (code == "not_found") return Errc::not_found;
  if (code == "exhausted") return Errc::exhausted;
  if (code == "unavailable") return Errc::unavailable;
  return Errc::denied;
}

Error error_of(const frame::BrokerToOwner& message) {
  if (const auto* refused = std::get_if<frame::GrantRefused>(&message)) {
    return Error{code_of(refused->code), "broker: " + refused->code + ": " + refused->text};
  }
  return Error{Errc::internal, "the broker answered something else"};
}

bool is_pending(const frame::BrokerToOwner& message) {
  const auto* refused = std::get_if<frame::GrantRefused>(&message);
  return refused != nullptr && refused->code == "pending";
}

// In memory of its own, which is wiped.
Result<WipedBytes> encoded(const frame::OwnerToBroker& message) {
  WipedBytes memory(frame::kLongestBrokerMessage);
  TRY(const auto written, frame::encode_into(memory, message));
  memory.resize(written.size());
  return memory;
}

}  // namespace

frame::BindGrant binding_of(const policy::Grant& grant, std::string sandbox, std::string tenant,
                            std::string placeholder) {
  return {.sandbox = std::move(sandbox),
          .tenant = std::move(tenant),
          .grant = grant.name,
          .placeholder = std::move(placeholder),
          .host = grant.host.name,
          .methods = grant.methods,
          .paths = grant.paths,
          .header = grant.header,
          .ttl_seconds = grant.ttl_seconds};
}

BrokerOwner::BrokerOwner(const asio::any_io_executor& executor, os::Fd socket, Callbacks callbacks,
                         std::chrono::milliseconds patience)
    : socket_{executor},
      callbacks_{std::move(callbacks)},
      patience_{patience},
      buffer_(frame::kLongestBrokerMessage) {
  lost_ = !os::set_nonblocking(socket, true);
  socket_.assign(socket.release());
}

async::Task<void> BrokerOwner::bind(frame::BindGrant grant, WipedBytes secret) {
  grant.secret = {secret};
  CO_TRY(WipedBytes message, encoded(grant));
  grant.secret = {};
  WipedBytes{}.swap(secret);
  const auto until = std::chrono::steady_clock::now() + kSourcePatience;
  for (;;) {
    CO_TRY(const auto answer, co_await ask(message, std::nullopt));
    if (std::holds_alternative<frame::GrantBound>(answer)) co_return Status{};
    if (!is_pending(answer)) co_return error_of(answer);
    if (std::chrono::steady_clock::now() >= until) {
      co_return Error{Errc::timeout, "the secret's source was not read in time"};
    }
    asio::steady_timer pause{co_await asio::this_coro::executor, kBetweenAsks};
    if (const auto [given_up] = co_await pause.async_wait(async::kQuiet); given_up) {
      co_return Error{Errc::timeout, "given up"};
    }
  }
}

async::Task<std::uint32_t> BrokerOwner::revoke(frame::RevokeGrants which) {
  CO_TRY(WipedBytes message, encoded(which));
  CO_TRY(const auto answer, co_await ask(std::move(message), std::nullopt));
  const auto* revoked = std::get_if<frame::GrantsRevoked>(&answer);
  if (revoked == nullptr) co_return error_of(answer);
  co_return revoked->count;
}

async::Task<std::uint32_t> BrokerOwner::keep(std::string tenant, std::string name,
                                             WipedBytes secret) {
  CO_TRY(WipedBytes message,
         encoded(frame::KeepSecret{std::move(tenant), std::move(name), {secret}}));
  WipedBytes{}.swap(secret);
  CO_TRY(const auto answer, co_await ask(std::move(message), std::nullopt));
  const auto* kept = std::get_if<frame::SecretKept>(&answer);
  if (kept == nullptr) co_return error_of(answer);
  co_return kept->revoked;
}

async::Task<bool> BrokerOwner::drop(std::string tenant, std::string name) {
  CO_TRY(WipedBytes message, encoded(frame::DropSecret{std::move(tenant), std::move(name)}));
  CO_TRY(const auto answer, co_await ask(std::move(message), std::nullopt));
  const auto* dropped = std::get_if<frame::SecretDropped>(&answer);
  if (dropped == nullptr) co_return error_of(answer);
  co_return dropped->was_there;
}

async::Task<std::vector<std::string>> BrokerOwner::list(std::string tenant) {
  std::vector<std::string> all;
  for (;;) {
    const std::string after = all.empty() ? std::string{} : all.back();
    CO_TRY(WipedBytes message, encoded(frame::ListSecrets{tenant, after}));
    CO_TRY(auto answer, co_await ask(std::move(message), std::nullopt));
    auto* page = std::get_if<frame::SecretNames>(&answer);
    if (page == nullptr) co_return error_of(answer);
    const bool last = page->names.size() < frame::kMostBrokerItems;
    for (std::string& name : page->names) all.push_back(std::move(name));
    if (last) co_return all;
  }
}

async::Task<void> BrokerOwner::serve_egress(std::string tenant, os::Fd socket) {
  CO_TRY(WipedBytes message, encoded(frame::ServeEgress{std::move(tenant)}));
  CO_TRY(const auto answer, co_await ask(std::move(message), std::move(socket)));
  if (!std::holds_alternative<frame::EgressServed>(answer)) co_return error_of(answer);
  co_return Status{};
}

async::Task<frame::BrokerToOwner> BrokerOwner::ask(WipedBytes message, std::optional<os::Fd> fd) {
  const auto until = std::chrono::steady_clock::now() + patience_;
  const auto call = std::make_shared<Call>(co_await asio::this_coro::executor);
  std::vector<const os::Fd*> fds;
  if (fd) fds.push_back(&*fd);
  for (;;) {
    if (lost_) co_return gone();
    const auto sent = os::send(*async::BorrowedFd{socket_}, message, fds);
    if (sent) break;
    if (!os::would_wait(sent.error())) co_return gone();
    if (std::chrono::steady_clock::now() >= until) {
      co_return Error{Errc::timeout, "the broker takes no messages"};
    }
    // A short pause instead of waiting for room: others may fill it first.
    call->answered.expires_after(std::chrono::milliseconds{2});
    const auto [given_up] = co_await call->answered.async_wait(async::kQuiet);
    if (given_up) co_return Error{Errc::timeout, "given up"};
  }
  calls_.push_back(call);
  call->answered.expires_at(until);
  co_await call->answered.async_wait(async::kQuiet);
  if (auto& answer = call->answer; answer) co_return *std::move(answer);
  if (lost_) co_return gone();
  co_return Error{Errc::timeout, "the broker did not answer in time"};
}

asio::awaitable<void> BrokerOwner::run() {
  while (!lost_) {
    const auto [error] =
        co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) break;
    hear_all();
  }
  lose();
}

void BrokerOwner::hear_all() {
  // A few for each wake-up: others have a right to the loop too.
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce && !lost_; ++i) {
    const auto got = os::receive(*async::BorrowedFd{socket_}, buffer_);
    if (!got && os::would_wait(got.error())) return;
    if (!got || got->bytes == 0) return lose();
    hear(std::span{buffer_}.first(got->bytes));
  }
}

void BrokerOwner::hear(std::span<const std::byte> bytes) {
  auto message = frame::decode_broker_to_owner(bytes);
  if (!message) return lose();
  if (const auto* used = std::get_if<frame::GrantUsed>(&*message)) {
    if (callbacks_.used) callbacks_.used(*used);
    return;
  }
  if (calls_.empty()) return lose();  // an answer that nobody asked for
  const std::shared_ptr<Call> call = std::move(calls_.front());
  calls_.pop_front();
  call->answer.emplace(*std::move(message));
  call->answered.cancel();
}

void BrokerOwner::lose() {
  if (std::exchange(lost_, true)) return;
  for (const auto& call : calls_) call->answered.cancel();
  calls_.clear();
  if (callbacks_.lost) callbacks_.lost();
}

asio::awaitable<void> hear(std::shared_ptr<BrokerOwner> owner) { co_await owner->run(); }

}  // namespace cordon::node
