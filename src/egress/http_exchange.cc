// SPDX-License-Identifier: Apache-2.0
#include "egress/http_exchange.h"

#include <utility>

#include <fmt/format.h>

#include "egress/forward_head.h"
#include "http/serialise.h"
#include "http/upgrade.h"

namespace cordon::egress {

using Next = HttpExchange::Next;
using Kind = http::Framing::Kind;

HttpExchange::HttpExchange(HttpClient client, HttpUpstream& upstream, HttpGate& gate,
                           const Destination& to, http::RequestHead head, HttpPermission permission)
    : client_{client},
      upstream_{upstream},
      gate_{gate},
      to_{to},
      asked_{std::move(head)},
      permission_{permission},
      framing_{http::framing_of(asked_)},
      is_upgrade_{permission.websocket && http::check_handshake(asked_).has_value()} {
  is_read_ = framing_.kind == Kind::none || (framing_.kind == Kind::length && framing_.length == 0);
  is_sent_ = is_read_;
  if (permission_.inject) wiping_.emplace();
}

// A host may have shown the secret, and a connection that is kept would keep its answer.
HttpExchange::~HttpExchange() {
  if (permission_.inject && upstream_.is_open()) upstream_.inbox().wipe();
}

Next HttpExchange::refuse(HttpRefusal refusal) {
  if (upstream_.is_open()) upstream_.stream().close();  // a body may still be on its way to it
  refusal_ = std::move(refusal);
  return Next::refuse;
}

// Repeating it does no harm, and nothing of it was answered.
bool HttpExchange::may_repeat() const {
  return upstream_.is_reused() && framing_.kind == Kind::none && !is_upgrade_ &&
         (asked_.method == "GET" || asked_.method == "HEAD" || asked_.method == "OPTIONS");
}

asio::awaitable<std::optional<HttpRefusal>> HttpExchange::prepare() {
  http::Fields fields;
  if (permission_.inject) {
    auto judged = co_await gate_.fields(asked_);
    if (!judged) co_return std::move(judged).error();
    fields = *std::move(judged);
    for (const http::Field& field : fields) injected_.push_back(field.name);
  }
  const auto after = is_upgrade_ ? http::After::upgrade : http::After::keep;
  auto head = http::serialise(forwarded(asked_, to_, permission_, injected_), framing_, after);
  std::optional<HttpRefusal> refusal;
  if (!head) {
    refusal = HttpRefusal{.status = 400, .code = "bad_request", .text = head.error().text()};
  } else if (permission_.scan) {
    refusal = gate_.scan_head(Direction::out, *head);
  }
  if (!refusal) {
    if (auto whole = with_fields(*head, fields)) {
      head_ = *std::move(whole);
    } else {
      refusal =
          HttpRefusal{.status = 403, .code = "secret_violation", .text = whole.error().text()};
    }
  }
  for (http::Field& field : fields) wipe(field.value);
  use_.injected = !fields.empty() && !refusal;
  co_return refusal;
}

asio::awaitable<std::optional<HttpRefusal>> HttpExchange::send_head() {
  const auto size = head_.view().size();
  if (permission_.inject) upstream_.keep_nothing();
  if (auto spent = co_await spend(gate_, Direction::out, size)) co_return spent;
  const auto written = co_await upstream_.stream().write(head_.view());
  use_.bytes_out += size;
  if (!may_repeat()) head_.clear();
  if (!written && !may_repeat())
    co_return HttpRefusal{.status = 502,
                          .code = "upstream_failed",
                          .text = fmt::format("{}:{} took no request: {}", to_.name, to_.port,
                                              written.error().text())};
  co_return std::nullopt;
}

asio::awaitable<Next> HttpExchange::run() {
  // Before anything is dialled: a credential goes to a host that has proven its name, or nowhere.
  if (permission_.inject && !to_.tls)
    co_return refuse({.status = 403,
                      .code = "plaintext_header_set",
                      .text = fmt::format("a credential is bound to {}, and this request would "
                                          "carry it in the clear. Use https.",
                                          to_.name)});
  auto opened = co_await upstream_.open();
  if (!opened) co_return refuse(std::move(opened).error());
  if (permission_.inject && !upstream_.is_verified())
    co_return refuse({.status = 403,
                      .code = "plaintext_header_set",
                      .text = "the host has not proven its name: the credential was not used"});
  if (auto refusal = co_await prepare()) co_return refuse(*std::move(refusal));
  if (auto refusal = co_await send_head()) co_return refuse(*std::move(refusal));
  co_return co_await converse();
}

asio::awaitable<Next> HttpExchange::converse() {
  if (is_sent_) co_return co_await answer();
  co_return co_await async::in_scope(send_and_answer, this);
}

// Both at once: hosts answer before the body has ended, and some wait for their answer to be read.
asio::awaitable<Next> HttpExchange::send_and_answer(async::Scope& scope, HttpExchange*& self) {
  scope.spawn(self->send_body());
  const Next next = co_await self->answer();
  if (!self->is_sent_) {
    // Answered without its end: the rest is of no use to the host.
    scope.cancel();
    self->upstream_.stream().close();
  }
  co_return next;
}

asio::awaitable<void> HttpExchange::send_body() {
  BodyMover mover{client_.inbox, upstream_.stream(), gate_, Direction::out};
  auto scanner = permission_.scan ? gate_.body_scanner(Direction::out) : nullptr;
  unsent_ = co_await mover.move(framing_, framing_, {}, std::move(scanner));
  use_.bytes_out += mover.moved();
  is_sent_ = !unsent_;
  is_read_ = is_sent_;
  if (is_sent_) co_return;
  // A host that takes no more may still say why. In other cases there is nothing to wait for.
  if (unsent_->side != BodyFault::Side::sink) upstream_.stream().abort();
}

}  // namespace cordon::egress
