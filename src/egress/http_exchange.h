// SPDX-License-Identifier: Apache-2.0
// One request that may pass, and its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "egress/body_mover.h"
#include "egress/destination.h"
#include "egress/http_gate.h"
#include "egress/http_upstream.h"
#include "egress/inbox.h"
#include "egress/openssl.h"
#include "egress/wiping_heap.h"
#include "http/framing.h"
#include "http/head.h"

namespace cordon::egress {

// The client's side of a connection.
struct HttpClient {
  http::Stream& stream;
  Inbox& inbox;
};

class HttpExchange {
 public:
  // What becomes of the client's connection.
  enum class Next : std::uint8_t {
    keep,
    close,   // the answer is whole
    abort,   // it is not, and must not look as if it were
    refuse,  // nothing was answered yet: refusal() is to be
  };

  // All outlive it. `head` was judged and may pass with `permission`.
  HttpExchange(HttpClient client, HttpUpstream& upstream, HttpGate& gate, const Destination& to,
               http::RequestHead head, HttpPermission permission);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  ~HttpExchange();

  asio::awaitable<Next> run();

  const HttpRefusal& refusal() const noexcept { return refusal_; }
  // Whether all of the request was read: what follows it is the next one.
  bool is_read() const noexcept { return is_read_; }
  // All but the method, the path and a refusal.
  const HttpUse& use() const noexcept { return use_; }

 private:
  enum class Heard : std::uint8_t { answer, nothing, refused };

  Next refuse(HttpRefusal refusal);
  asio::awaitable<std::optional<HttpRefusal>> prepare();
  asio::awaitable<std::optional<HttpRefusal>> send_head();
  asio::awaitable<void> send_body();
  asio::awaitable<Next> converse();
  static asio::awaitable<Next> send_and_answer(async::Scope& scope, HttpExchange*& self);
  asio::awaitable<Heard> hear(http::ResponseHead& answer);
  asio::awaitable<Heard> hear_more(bool is_begun);
  asio::awaitable<Heard> hear_one(http::ResponseHead& answer);
  asio::awaitable<Next> answer();
  asio::awaitable<Next> pass_on(http::ResponseHead answer);
  asio::awaitable<Next> open_tunnel(http::ResponseHead answer);
  std::optional<HttpRefusal> check_answer(const http::ResponseHead& answer, std::string_view head);
  bool may_repeat() const;
  bool keeps_client(http::Framing::Kind kind) const;

  std::optional<WipingHeap> wiping_;  // first: it outlives what was made of the answer
  HttpClient client_;
  HttpUpstream& upstream_;
  HttpGate& gate_;
  const Destination& to_;
  http::RequestHead asked_;  // as the client sent it
  HttpPermission permission_;
  http::Framing framing_;
  bool is_upgrade_ = false;
  std::vector<std::string> injected_;  // names
  SecretText head_;                    // until it is sent
  bool is_read_ = false;
  bool is_sent_ = false;             // all of the body
  std::optional<BodyFault> unsent_;  // why not
  HttpRefusal refusal_;
  HttpUse use_;
};

}  // namespace cordon::egress
