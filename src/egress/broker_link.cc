// SPDX-License-Identifier: Apache-2.0
#include "egress/broker_link.h"

#include <utility>

#include <boost/asio/this_coro.hpp>

#include "async/borrowed_fd.h"
#include "async/waiting.h"
#include "os/socket.h"

namespace cordon::egress {
namespace {

constexpr std::string_view kUnavailable = "proxy_unavailable";

Error unavailable(Errc code, std::string_view why) {
  return Error{code, std::string{kUnavailable} + ": " + std::string{why}};
}

}  // namespace

std::string_view code_of_refusal(const Error& error) noexcept {
  using frame::SecretVerdict;
  for (const SecretVerdict verdict :
       {SecretVerdict::cred_unknown, SecretVerdict::cred_scope, SecretVerdict::cred_expired,
        SecretVerdict::cred_revoked, SecretVerdict::cred_rate, SecretVerdict::cred_unrecorded}) {
    const std::string_view code = to_string(verdict);
    const std::string_view text = error.text();
    if (error.code() == Errc::denied && text.starts_with(code) &&
        text.substr(code.size()).starts_with(": ")) {
      return code;
    }
  }
  return kUnavailable;
}

// Has a question listed for as long as somebody waits for its answer.
class BrokerLink::Asking {
 public:
  Asking(BrokerLink& link, std::uint64_t number, Question& question)
      : link_{link}, number_{number} {
    link_.questions_.emplace(number, &question);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { link_.questions_.erase(number_); }

 private:
  BrokerLink& link_;
  std::uint64_t number_;
};

BrokerLink::BrokerLink(const asio::any_io_executor& executor, os::Fd socket, Callbacks callbacks,
                       std::chrono::milliseconds patience)
    : socket_{executor},
      callbacks_{std::move(callbacks)},
      patience_{patience},
      buffer_(frame::kLongestBrokerMessage) {
  // A socket that would make us wait is as good as none.
  lost_ = !os::set_nonblocking(socket, true);
  socket_.assign(socket.release());
}

async::Task<InjectedHeader> BrokerLink::ask(SecretRequest request) {
  if (lost_) co_return unavailable(Errc::unavailable, "the broker has ended");
  const std::uint64_t number = next_number_++;
  Question question{co_await asio::this_coro::executor};
  question.answered.expires_after(patience_);
  const Asking asking{*this, number, question};
  const frame::EgressToBroker message = frame::AskSecret{.number = number,
                                                         .sandbox = std::move(request.sandbox),
                                                         .grant = std::move(request.grant),
                                                         .host = std::move(request.host),
                                                         .port = request.port,
                                                         .method = std::move(request.method),
                                                         .path = std::move(request.path)};
  if (!os::send(*async::BorrowedFd{socket_}, frame::encode(message))) {
    co_return unavailable(Errc::unavailable, "the broker takes no questions");
  }
  co_await question.answered.async_wait(async::kQuiet);
  if (question.answer) co_return *std::move(question.answer);
  if (lost_) co_return unavailable(Errc::unavailable, "the broker has ended");
  co_return unavailable(Errc::timeout, "the broker did not answer in time");
}

asio::awaitable<void> BrokerLink::run() {
  while (!lost_) {
    const auto [error] =
        co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) break;
    hear_all();
  }
  lose();
}

void BrokerLink::hear_all() {
  // A few for each wake-up: others have a right to the loop too.
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce && !lost_; ++i) {
    const auto got = os::receive(*async::BorrowedFd{socket_}, buffer_);
    if (!got && os::would_wait(got.error())) return;
    if (!got || got->bytes == 0) return lose();
    const auto bytes = std::span{buffer_}.first(got->bytes);
    hear(bytes);
    wipe(bytes);
  }
}

void BrokerLink::hear(std::span<const std::byte> bytes) {
  const auto message = frame::decode_broker_to_egress(bytes);
  if (!message) return lose();
  if (const auto* given = std::get_if<frame::SecretGiven>(&*message)) {
    const auto value = given->value.bytes;
    return settle(given->number, InjectedHeader{.name = given->header,
                                                .value = {value.begin(), value.end()},
                                                .secret_offset = given->secret_offset,
                                                .secret_size = given->secret_size});
  }
  if (const auto* no = std::get_if<frame::NoSecret>(&*message)) {
    return settle(no->number,
                  Error{Errc::denied, std::string{to_string(no->code)} + ": " + no->text});
  }
  const auto& revoked = std::get<frame::GrantRevoked>(*message);
  if (callbacks_.revoked) callbacks_.revoked(revoked.sandbox, revoked.grant);
}

// Of a question that nobody waits for any more, or that an earlier egress had asked, it is dropped.
void BrokerLink::settle(std::uint64_t number, Result<InjectedHeader> answer) {
  const auto found = questions_.find(number);
  if (found == questions_.end()) return;
  found->second->answer.emplace(std::move(answer));
  found->second->answered.cancel();
}

void BrokerLink::give_up() {
  lose();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void BrokerLink::lose() {
  const bool known = std::exchange(lost_, true);
  if (known) return;
  for (const auto& [number, question] : questions_) question->answered.cancel();
  if (callbacks_.lost) callbacks_.lost();
}

}  // namespace cordon::egress
