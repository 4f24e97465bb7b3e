// SPDX-License-Identifier: Apache-2.0
// A client, the session and a host, in one loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/scope.h"
#include "egress/http_session.h"
#include "egress/test_origin_test.h"
#include "http/framing.h"

namespace cordon::egress {

inline constexpr const char* kName = "api.example.com";

inline asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(asio::use_awaitable);
}

class TestGate final : public HttpGate {
 public:
  explicit TestGate(asio::ip::tcp::endpoint origin) : origin_{std::move(origin)} {}

  std::function<Judged<HttpPermission>(const http::RequestHead&)> decide =
      [](const http::RequestHead&) { return HttpPermission{}; };
  http::Fields add;
  std::function<http::Fields()> make;  // in its place
  std::optional<HttpRefusal> undialled;
  std::uint64_t most_in = UINT64_MAX, most_out = UINT64_MAX;
  std::function<std::unique_ptr<HttpScanner>(Direction)> scan;
  std::string secret_in_heads;

  std::vector<http::RequestHead> judged;
  std::vector<HttpUse> uses;
  int dials = 0;
  int asked_for_fields = 0;

  Judged<HttpPermission> judge(const http::RequestHead& head) override {
    judged.push_back(head);
    return decide(head);
  }
  asio::awaitable<Judged<asio::ip::tcp::socket>> dial() override {
    ++dials;
    if (undialled) co_return std::unexpected{*undialled};
    asio::ip::tcp::socket socket{co_await asio::this_coro::executor};
    co_await socket.async_connect(origin_, asio::use_awaitable);
    co_return socket;
  }
  asio::awaitable<Judged<http::Fields>> fields(const http::RequestHead&) override {
    ++asked_for_fields;
    co_return make ? make() : add;
  }
  EgressBudget::Allowance move(Direction direction, std::uint64_t wanted) override {
    std::uint64_t& left = direction == Direction::out ? most_out : most_in;
    if (left == 0)
      return {.bytes = 0, .wait = {}, .spent = BudgetRefusal{BudgetKind::bytes, "all is used"}};
    const auto bytes = std::min(left, wanted);
    if (left != UINT64_MAX) left -= bytes;
    return {.bytes = bytes, .wait = {}, .spent = {}};
  }
  std::optional<HttpRefusal> scan_head(Direction, std::string_view head) override {
    if (secret_in_heads.empty() || head.find(secret_in_heads) == std::string_view::npos)
      return std::nullopt;
    return HttpRefusal{.status = 403, .code = "secret_violation", .text = "a secret in a head"};
  }
  std::unique_ptr<HttpScanner> body_scanner(Direction direction) override {
    return scan ? scan(direction) : nullptr;
  }
  void finished(const HttpUse& use) override { uses.push_back(use); }

 private:
  asio::ip::tcp::endpoint origin_;
};

struct Answer {
  http::ResponseHead head;
  std::string body;
  std::vector<int> interim;
};

struct RigSetup {
  bool tls = true;
  enum class Host : std::uint8_t {
    good,
    other_name,
    expired,
    unknown,
    self_signed
  } host = Host::good;
  HttpTimes times{};
  std::size_t arm = 0;  // which of the cases of a test
};

class Rig {
 public:
  Rig(asio::io_context& loop, const RigSetup& setup)
      : setup_{setup},
        authority_{*CertificateAuthority::create(
            {kName},
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()))},
        trusted_{*TrustStore::from_pem(pem_of(root_.certificate.get()))},
        server_{*TlsServer::create()},
        client_{*TlsClient::create(trusted_)},
        inside_{*TlsClient::create(*TrustStore::from_pem(*authority_.certificate_pem()))},
        certificate_{host_certificate()},
        watchdog_{loop.get_executor()},
        listener_{loop, {asio::ip::address_v4::loopback(), 0}},
        origin{loop.get_executor(), setup.tls ? &certificate_ : nullptr},
        gate{origin.address()} {
    arm = setup.arm;
    to.tls = setup.tls;
    to.port = setup.tls ? 443 : 80;
  }

  // Connects the client through a session, and says nothing.
  asio::awaitable<void> connect_bare() {
    auto theirs = co_await connect_apart();
    scope->spawn(session(std::move(theirs), leaf()));
  }

  // Connects the client to nobody yet: the other end is given.
  asio::awaitable<asio::ip::tcp::socket> connect_apart() {
    asio::ip::tcp::socket mine{co_await asio::this_coro::executor};
    co_await mine.async_connect(listener_.local_endpoint(), asio::use_awaitable);
    auto theirs = co_await listener_.async_accept(asio::use_awaitable);
    inbox.reset();
    stream = std::make_unique<http::Stream>(std::move(mine), "", watchdog_);
    inbox = std::make_unique<Inbox>(*stream);
    co_return theirs;
  }

  // For a client of another process.
  std::uint16_t port() const { return listener_.local_endpoint().port(); }
  asio::awaitable<void> accept_one() {
    auto theirs = co_await listener_.async_accept(asio::use_awaitable);
    scope->spawn(session(std::move(theirs), leaf()));
  }
  Leaf leaf() { return setup_.tls ? *authority_.leaf(kName) : Leaf{}; }

  // `sni`: what it asks for, whatever it then checks; empty: it does not say.
  async::Task<void> connect(std::string sni = kName) {
    co_await connect_bare();
    co_return co_await shake(std::move(sni));
  }
  async::Task<void> shake(std::string sni = kName) {
    if (!setup_.tls) co_return Status{};
    auto ssl = inside_.connect(kName);
    const char* const asked = sni.empty() ? nullptr : sni.c_str();
    SSL_set_tlsext_host_name(ssl->get(), asked);
    co_return co_await stream->handshake(*std::move(ssl));
  }

  asio::awaitable<void> session(asio::ip::tcp::socket socket, Leaf shown) {
    std::string before(before_size, '\0');
    if (before_size > 0) {
      const auto got = co_await socket.async_read_some(asio::buffer(before), asio::use_awaitable);
      before.resize(got);
    }
    co_await serve_http({std::move(socket), std::move(before)}, to, shown, {server_, client_}, gate,
                        setup_.times);
  }

  asio::awaitable<bool> send(std::string bytes) {
    const auto sent = co_await stream->write(bytes);
    co_return sent.has_value();
  }

  async::Task<Answer> answer(std::string method = "GET") {
    Answer answer;
    for (;;) {
      http::ResponseReader reader;
      for (bool done = false; !done;) {
        if (inbox->empty()) {
          CO_TRY(const bool more, co_await inbox->fill());
          if (!more) co_return Error{Errc::unavailable, "no answer, but the end"};
        }
        CO_TRY(const auto fed, reader.feed(inbox->bytes()));
        inbox->drop(fed.consumed);
        done = fed.done;
      }
      answer.head = reader.take();
      if (!http::is_interim(answer.head)) break;
      answer.interim.push_back(answer.head.status);
    }
    const http::Asked asked{.method = method, .upgrade = true};
    CO_TRY(const auto framing, http::framing_of(answer.head, asked));
    CO_TRY(answer.body, co_await TestOrigin::read_body(*inbox, framing));
    co_return answer;
  }

  async::Task<Answer> ask(std::string request, std::string method = "GET") {
    if (!co_await send(std::move(request))) co_return Error{Errc::unavailable, "not sent"};
    co_return co_await answer(std::move(method));
  }

  // Whether the session ends the connection, reading and dropping what comes before.
  asio::awaitable<bool> is_ended() {
    for (;;) {
      const auto more = co_await inbox->fill();
      if (!more || !*more) co_return true;
    }
  }

 private:
  Pair host_certificate() const {
    using Host = RigSetup::Host;
    const Pair other = test_authority();
    switch (setup_.host) {
      case Host::other_name:
        return test_certificate(root_, "other.example.com", life_around(-1h, 1h));
      case Host::expired:
        return test_certificate(root_, kName, life_around(-2h, -1h));
      case Host::unknown:
        return test_certificate(other, kName, life_around(-1h, 1h));
      case Host::self_signed:
        return test_authority();
      case Host::good:
        break;
    }
    return test_certificate(root_, kName, life_around(-1h, 1h));
  }

  RigSetup setup_;
  Pair root_ = test_authority();
  CertificateAuthority authority_;
  TrustStore trusted_;
  TlsServer server_;
  TlsClient client_;
  TlsClient inside_;
  Pair certificate_;
  http::Watchdog watchdog_;
  asio::ip::tcp::acceptor listener_;

 public:
  TestOrigin origin;
  TestGate gate;
  Destination to{.name = kName};
  std::size_t before_size = 0;
  std::size_t arm = 0;
  bool serves = true;  // the host lives in this loop
  async::Scope* scope = nullptr;
  std::unique_ptr<http::Stream> stream;
  std::unique_ptr<Inbox> inbox;

  const CertificateAuthority& authority() const { return authority_; }
};

namespace detail {

using RigBody = asio::awaitable<void> (*)(Rig&);

inline async::Task<bool> run_body(RigBody body, Rig* rig) {
  co_await body(*rig);
  co_return true;
}

inline asio::awaitable<bool> in_scope_of_rig(async::Scope& scope, Rig*& rig, RigBody& body) {
  rig->scope = &scope;
  if (rig->serves) scope.spawn(rig->origin.run(scope));
  const auto done = co_await async::within(20s, run_body(body, rig));
  EXPECT_TRUE(done) << done.error().text();
  if (rig->stream) rig->stream->close();
  scope.cancel();
  co_return true;
}

}  // namespace detail

// Runs `body` with a host and what it needs to connect clients.
inline void in_rig(const RigSetup& setup, detail::RigBody body) {
  asio::io_context loop;
  Rig rig{loop, setup};
  async::block_on(loop, async::in_scope(detail::in_scope_of_rig, &rig, body));
}

inline std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: " + kName + "\r\n" + more + "\r\n";
}

}  // namespace cordon::egress
