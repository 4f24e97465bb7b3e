// SPDX-License-Identifier: Apache-2.0
// The egress's end of cordon-broker: one header for one request, and word of what was revoked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/wiped.h"
#include "frame/broker.h"
#include "os/fd.h"

namespace cordon::egress {

// `host`, `method` and `path` as they were judged and will be sent; the path without its query.
struct SecretRequest {
  std::string sandbox;
  std::string grant;
  std::string host;
  std::uint16_t port = 443;
  std::string method;
  std::string path;
};

// For the request that it was asked for and no other: gone, and wiped, after that is written.
struct InjectedHeader {
  std::string name;
  WipedBytes value;
  std::size_t secret_offset = 0;
  std::size_t secret_size = 0;

  // The secret in the value: what a reflection would show.
  std::span<const std::byte> secret() const {
    return std::span{value}.subspan(secret_offset, secret_size);
  }
};

// "cred_scope", "cred_expired", "cred_revoked", "cred_rate", "cred_unknown", "cred_unrecorded", of
// an error that `ask` gave; "proxy_unavailable" of any other.
std::string_view code_of_refusal(const Error& error) noexcept;

// Used from the loop's thread only; tasks refer to it, so that whoever runs or asks it shares it.
class BrokerLink {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  struct Callbacks {
    // A grant is good no more: whatever it opened must be closed.
    std::function<void(const std::string& sandbox, const std::string& grant)> revoked;
    // No grant is good any more, since nobody would tell.
    std::function<void()> lost;
  };

  BrokerLink(const asio::any_io_executor& executor, os::Fd socket, Callbacks callbacks,
             std::chrono::milliseconds patience = kPatience);
  BrokerLink(const BrokerLink&) = delete;
  BrokerLink& operator=(const BrokerLink&) = delete;

  // Hears the broker until it has gone or this is cancelled: spawned once, in the owner's scope.
  // Without it no question is answered.
  asio::awaitable<void> run();

  // `denied`: the broker refused, the text begins with its code. `unavailable`, `timeout`: it did
  // not answer ("proxy_unavailable: ..."): the request must not go out.
  async::Task<InjectedHeader> ask(SecretRequest request);

  // Another takes its place: as if it had ended.
  void give_up();

  bool is_lost() const noexcept { return lost_; }

 private:
  struct Question {
    explicit Question(const asio::any_io_executor& executor) : answered{executor} {}
    asio::steady_timer answered;  // cancelled when there is an answer
    std::optional<Result<InjectedHeader>> answer;
  };
  class Asking;

  void hear_all();
  void hear(std::span<const std::byte> bytes);
  void settle(std::uint64_t number, Result<InjectedHeader> answer);
  void lose();

  asio::posix::stream_descriptor socket_;
  Callbacks callbacks_;
  std::chrono::milliseconds patience_;
  WipedBytes buffer_;
  std::map<std::uint64_t, Question*> questions_;
  std::uint64_t next_number_ = 1;
  bool lost_ = false;
};

}  // namespace cordon::egress
