// SPDX-License-Identifier: Apache-2.0
#include "node/sealing.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/offload.h"
#include "audit/heads_file.h"
#include "base/log.h"
#include "os/poll.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr std::chrono::seconds kLook{1};
// A notary waits for its disk, and for nothing else.
constexpr std::chrono::seconds kAnswer{10};
constexpr std::chrono::seconds kAfterFailure{10};

Result<frame::FromNotary> hear(const os::Fd& link) {
  TRY(const bool has_word, os::wait_readable(link, kAnswer));
  if (!has_word) return Error{Errc::timeout, "cordon-notary does not answer"};
  std::vector<std::byte> room(frame::kLongestNotaryMessage);
  TRY(const os::Received got, os::receive(link, room));
  if (got.bytes == 0) return Error{Errc::unavailable, "cordon-notary has ended"};
  return frame::decode_from_notary(std::span{room}.first(got.bytes));
}

}  // namespace

Sealing::~Sealing() { thread_.join(); }

bool Sealing::is_due(std::chrono::steady_clock::time_point now) const {
  const std::uint64_t size = log_.size();
  return size > sealed_ &&
         (size - sealed_ >= settings_.head_records || now - last_ >= settings_.head_every);
}

// What it signed last is where the next head goes on.
Status Sealing::greet() {
  TRY(const frame::FromNotary said, hear(link_));
  const auto* ready = std::get_if<frame::NotaryReady>(&said);
  if (ready == nullptr)
    return Error{Errc::invalid, "cordon-notary does not say what it has signed"};
  TRY(os::Fd directory, os::duplicate(directory_));
  auto added =
      audit::AddedRange::open(std::move(directory), ready->log == log_.id() ? ready->size : 0);
  if (!added) return std::move(added).error();
  added_.emplace(*std::move(added));
  return {};
}

Result<audit::Head> Sealing::ask() {
  if (!added_) return Error{Errc::internal, "no notary was greeted"};
  TRY(const audit::TreeRange range, added_->read());
  TRY_DO(os::send(link_, frame::encode(frame::ToNotary{frame::SignHead{.log = log_.id(),
                                                                       .begin = range.begin(),
                                                                       .end = range.end(),
                                                                       .hashes = range.bytes()}})));
  TRY(const frame::FromNotary said, hear(link_));
  if (const auto* refused = std::get_if<frame::NotSigned>(&said)) {
    return Error{Errc::denied, refused->text};
  }
  const auto* answer = std::get_if<frame::HeadSigned>(&said);
  if (answer == nullptr) return Error{Errc::invalid, "cordon-notary does not answer with a head"};
  TRY(audit::Head head, audit::decode_head(answer->head));
  TRY_DO(audit::append_head(directory_, audit::kHeads, head));
  return head;
}

async::Task<void> Sealing::seal() {
  if (!link_) {
    CO_TRY(link_, co_await open_());
    CO_TRY_DO(co_await async::offload(thread_, [this] { return greet(); }));
  }
  CO_TRY(const audit::Head head, co_await async::offload(thread_, [this] { return ask(); }));
  sealed_ = head.size;
  last_ = std::chrono::steady_clock::now();
  co_return Status{};
}

asio::awaitable<void> Sealing::keep() {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  bool is_well = true;
  while (true) {
    pause.expires_after(is_well ? kLook : kAfterFailure);
    co_await pause.async_wait(asio::use_awaitable);
    if (!is_due(std::chrono::steady_clock::now())) continue;
    const Status sealed = co_await seal();
    if (!sealed) {
      // The next one says again what it has signed.
      link_ = os::Fd{};
      added_.reset();
    }
    if (!sealed && is_well) {
      log(LogLevel::warning, "node", "the audit log is not signed",
          {{"failure", sealed.error().text()}});
    } else if (sealed && !is_well) {
      log(LogLevel::info, "node", "the audit log is signed again", {});
    }
    is_well = sealed.has_value();
  }
}

}  // namespace cordon::node
