// SPDX-License-Identifier: Apache-2.0
#include "egress/http_session.h"

#include <array>
#include <optional>
#include <utility>

#include "async/scope.h"
#include "egress/forward_head.h"
#include "egress/http_exchange.h"
#include "egress/refusal_answer.h"
#include "http/body.h"
#include "http/characters.h"
#include "http/connection.h"
#include "http/parse_head.h"
#include "http/refusal.h"
#include "http/target.h"
#include "http/upgrade.h"
#include "http/watchdog.h"

namespace cordon::egress {
namespace {

using Next = HttpExchange::Next;
using Kind = http::Framing::Kind;

// Of a refused request's body, to keep the connection.
constexpr std::uint64_t kMostDrained = std::uint64_t{64} << 10U;
// Of what a client still sends when it was told that the connection ends.
constexpr std::size_t kMostLingered = std::size_t{1} << 20U;

HttpRefusal unreadable(const Error& error) {
  const int status = http::status_for(error);
  return {.status = status,
          .code = status == 405 ? "method_refused" : "bad_request",
          .text = "the request was refused, nothing was sent: " + error.text()};
}

bool asks_websocket(const http::RequestHead& head) {
  const auto upgrade = http::only(head.fields, "upgrade");
  return http::asks_upgrade(head) && upgrade && http::same_name(*upgrade, "websocket");
}

class Session {
 public:
  Session(HttpArrival client, const Destination& to, const HttpTls& tls, HttpGate& gate,
          const HttpTimes& times, http::Watchdog& watchdog)
      : to_{to},
        gate_{gate},
        times_{times},
        client_{std::move(client.socket), std::move(client.before), watchdog},
        upstream_{to_, gate_, tls.client, watchdog, times_} {
    client_.set_patience(times_.idle);
  }

  asio::awaitable<void> run(std::optional<OwnedSsl> ssl) {
    client_.limit(times_.handshake);
    if (ssl && !co_await client_.handshake(*std::move(ssl))) co_return;
    client_.limit(times_.head);
    for (bool is_first = true; co_await serve_one(is_first);) is_first = false;
  }

  void abort() noexcept {
    client_.abort();
    if (upstream_.is_open()) upstream_.stream().abort();
  }

 private:
  // Whether another request may follow.
  asio::awaitable<bool> serve_one(bool is_first) {
    if (inbox_.empty()) {
      const auto more = co_await inbox_.fill();
      if (!more || !*more) co_return co_await end(Next::close, false);
    }
    if (!is_first) client_.limit(times_.head);
    auto head = co_await read_head();
    client_.lift_limit();
    if (!head) co_return co_await refuse(unreadable(head.error()), nullptr, HttpUse{});
    if (auto& whole = *head) co_return co_await judge(*std::move(whole));
    co_return false;
  }

  // Nothing: the client broke off.
  async::Task<std::optional<http::RequestHead>> read_head() {
    reader_.emplace();
    for (;;) {
      CO_TRY(const auto fed, reader_->feed(inbox_.bytes()));
      inbox_.drop(fed.consumed);
      if (fed.done) co_return std::optional{reader_->take()};
      const auto more = co_await inbox_.fill();
      if (!more || !*more) co_return std::optional<http::RequestHead>{};
    }
  }

  asio::awaitable<bool> judge(http::RequestHead head) {
    HttpPermission permission;
    if (auto refusal = examine(head, permission))
      co_return co_await refuse(*std::move(refusal), &head, HttpUse{});
    co_return co_await exchange(std::move(head), permission);
  }

  // Brings it into origin form, and asks whether it may pass.
  std::optional<HttpRefusal> examine(http::RequestHead& head, HttpPermission& permission) {
    if (auto refusal = check_destination(head, to_)) return refusal;
    head = http::in_origin_form(std::move(head));
    auto judged = gate_.judge(head);
    if (!judged) return std::move(judged).error();
    permission = *judged;
    if (!asks_websocket(head)) return std::nullopt;
    if (!permission.websocket)
      return HttpRefusal{.status = 403,
                         .code = "websocket_not_allowed",
                         .text = "no rule allows WebSocket to " + to_.name};
    if (const auto handshake = http::check_handshake(head); !handshake)
      return unreadable(handshake.error());
    return std::nullopt;
  }

  asio::awaitable<bool> exchange(http::RequestHead head, HttpPermission permission) {
    exchange_.emplace(HttpClient{client_, inbox_}, upstream_, gate_, to_, head, permission);
    const Next next = co_await exchange_->run();
    HttpUse use = exchange_->use();
    HttpRefusal refusal = exchange_->refusal();
    const bool is_read = exchange_->is_read();
    exchange_.reset();
    if (next == Next::refuse) {
      if (is_read) head.announced = {};  // nothing is left to drain
      co_return co_await refuse(std::move(refusal), &head, std::move(use));
    }
    if (next == Next::abort) use.refusal = std::move(refusal);
    tell(std::move(use), &head);
    if (next == Next::keep) co_return true;
    co_return co_await end(next, !is_read);
  }

  void tell(HttpUse use, const http::RequestHead* head) {
    if (head != nullptr) use.method = head->method;
    if (head != nullptr) use.path = head->target.path;
    gate_.finished(use);
  }

  // `head` is null where it could not be read: then nobody knows where the next request begins.
  asio::awaitable<bool> refuse(HttpRefusal refusal, const http::RequestHead* head, HttpUse use) {
    const http::Framing framing = head != nullptr ? http::framing_of(*head) : http::Framing{};
    const bool is_short = framing.kind == Kind::none ||
                          (framing.kind == Kind::length && framing.length <= kMostDrained);
    const bool keeps = head != nullptr && is_short && http::count(head->fields, "expect") == 0 &&
                       http::keeps_alive(head->version, head->fields);
    const std::string answer =
        refusal_answer(refusal, head != nullptr ? head->method : "",
                       head != nullptr ? head->version : http::Version::http11,
                       keeps ? http::After::keep : http::After::close);
    use.status = refusal.status;
    use.bytes_in += answer.size();
    use.refusal = std::move(refusal);
    tell(std::move(use), head);
    if (!co_await client_.write(answer)) co_return false;
    if (keeps && co_await drain(framing)) co_return true;
    co_return co_await end(Next::close, true);
  }

  asio::awaitable<bool> drain(http::Framing framing) {
    client_.limit(times_.head);
    http::BodyReader reader{framing};
    while (!reader.done()) {
      if (inbox_.empty()) {
        const auto more = co_await inbox_.fill();
        if (!more || !*more) co_return false;
      }
      const auto piece = reader.next(inbox_.bytes());
      if (!piece) co_return false;
      inbox_.drop(piece->consumed);
    }
    client_.lift_limit();
    co_return true;
  }

  asio::awaitable<bool> end(Next next, bool is_unread) {
    if (next == Next::abort) {
      client_.abort();
      co_return false;
    }
    client_.limit(times_.linger);
    static_cast<void>(co_await client_.shut());
    // A socket that is closed with bytes unread resets, and the client loses what it was told.
    std::array<char, 4096> rest{};
    for (std::size_t read = 0; is_unread && read < kMostLingered;) {
      const auto got = co_await client_.read_some(rest);
      if (!got || *got == 0) break;
      read += *got;
    }
    client_.close();
    co_return false;
  }

  const Destination& to_;
  HttpGate& gate_;
  const HttpTimes& times_;
  http::Stream client_;
  Inbox inbox_{client_};
  HttpUpstream upstream_;
  // Of one request. Here and not in the tasks that use them: those are made anew for each.
  std::optional<http::RequestReader> reader_;
  std::optional<HttpExchange> exchange_;
};

// Has the gate know how to abort a session for as long as there is one.
class Abortable {
 public:
  Abortable(HttpGate& gate, Session& session) : gate_{gate} {
    gate_.serving([&session] { session.abort(); });
  }
  Abortable(const Abortable&) = delete;
  Abortable& operator=(const Abortable&) = delete;
  ~Abortable() { gate_.serving({}); }

 private:
  HttpGate& gate_;
};

struct Work {
  Session session;
  http::Watchdog& watchdog;
  std::optional<OwnedSsl> ssl;
};

asio::awaitable<bool> run_watched(async::Scope& scope, Work*& work) {
  scope.spawn(work->watchdog.run());
  co_await work->session.run(std::move(work->ssl));
  work->watchdog.stop();
  co_return true;
}

}  // namespace

asio::awaitable<void> serve_http(HttpArrival client, Destination to, Leaf leaf, HttpTls tls,
                                 HttpGate& gate, HttpTimes times) {
  std::optional<OwnedSsl> ssl;
  if (to.tls) {
    auto accepted = tls.server.accept(leaf);
    if (!accepted) co_return;
    ssl = *std::move(accepted);
  }
  http::Watchdog watchdog{co_await asio::this_coro::executor};
  Work work{.session = {std::move(client), to, tls, gate, times, watchdog},
            .watchdog = watchdog,
            .ssl = std::move(ssl)};
  const Abortable abortable{gate, work.session};
  co_await async::in_scope(run_watched, &work);
}

}  // namespace cordon::egress
