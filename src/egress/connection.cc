// SPDX-License-Identifier: Apache-2.0
#include "egress/connection.h"

#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/write.hpp>

#include "async/deadline.h"
#include "async/waiting.h"
#include "base/bytes.h"
#include "egress/dns_stream.h"
#include "egress/gate.h"
#include "egress/hello_peeker.h"
#include "egress/http_session.h"
#include "egress/refusals.h"
#include "egress/relay.h"
#include "egress/tcp.h"
#include "egress/ward.h"
#include "os/datagram.h"

namespace cordon::egress {
namespace {

using asio::ip::tcp;

constexpr std::uint16_t kDnsPort = 53;
constexpr std::chrono::seconds kHelloTime{10};
constexpr std::chrono::seconds kDnsIdle{10};

std::string dotted(std::uint32_t address) {
  return os::IpAddress::v4(
             {static_cast<std::uint8_t>(address >> 24U), static_cast<std::uint8_t>(address >> 16U),
              static_cast<std::uint8_t>(address >> 8U), static_cast<std::uint8_t>(address)})
      .text();
}

class Connection {
 public:
  Connection(Ward& ward, tcp::socket client) : ward_{ward}, client_{std::move(client)} {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (counted_) ward_.budget().close_connection();
    if (live_ != ward_.live().end()) ward_.live().erase(live_);
  }

  asio::awaitable<void> run() {
    const auto meant = os::local_name(client_.native_handle());
    if (!meant) co_return reset(client_);
    boost::system::error_code ignored;
    client_.non_blocking(true, ignored);
    port_ = meant->port;
    host_ = spoken(meant->address);
    if (!count()) co_return;
    if (port_ == kDnsPort) co_return co_await answer_names();
    if (!is_known(meant->address) || !judge()) co_return;
    const auto passage = ward_.policy().passage(host_, port_);
    if (!passage) {
      co_return refuse(kHostRefused, "two documents of the policy want different protocols there");
    }
    passage_ = *passage;
    // From here on a change of the policy ends it, or leaves it with the same passage.
    live_ = ward_.live().insert(
        ward_.live().end(),
        {.host = host_, .port = port_, .passage = passage_, .close = [this] { end(); }});
    if (passage_.protocol == policy::Protocol::tcp) co_return co_await pass_through({}, nullptr);
    if (passage_.protocol == policy::Protocol::http) {
      co_return co_await judge_requests({}, Leaf{}, false);
    }
    co_await serve_tls();
  }

 private:
  void refuse(std::string_view code, std::string why) {
    ward_.reports().refused(refused_connection(code, host_, port_, std::move(why)));
    reset(client_);
  }

  void refuse_budget(BudgetKind kind, std::string why) {
    ward_.reports().refused(refused_budget(host_, port_, std::move(why), ward_.rule_of(kind)));
    reset(client_);
  }

  // What the sandbox means by the address: a name that it was given, or the address itself.
  std::string spoken(std::uint32_t address) const {
    const auto name = is_synthetic(address) ? ward_.names().name_of(address) : std::nullopt;
    return name ? std::string{*name} : dotted(address);
  }

  bool count() {
    const auto over = ward_.budget().open_connection();
    if (!over) return counted_ = true;
    refuse_budget(over->kind, over->why);
    return false;
  }

  bool is_known(std::uint32_t address) {
    if (!is_synthetic(address) || ward_.names().name_of(address)) return true;
    refuse(kAddressRefused, host_ + " is the address of no name that was looked up here");
    return false;
  }

  bool judge() {
    const policy::NetQuery query{.host = host_, .port = port_};
    if (ward_.policy().decide(query).allowed()) return true;
    ward_.reports().refused(refused_by_policy(ward_.policy(), query));
    reset(client_);
    return false;
  }

  asio::awaitable<void> answer_names() {
    DnsStream stream;
    std::array<std::byte, 1024> buffer{};
    for (;;) {
      const auto got = co_await async::within(kDnsIdle, read_some(buffer));
      if (!got || *got == 0) co_return;
      stream.push(std::span{buffer}.first(*got));
      for (;;) {
        auto next = stream.next();
        if (!next) co_return reset(client_);
        const std::optional<std::vector<std::byte>> message = *std::move(next);
        if (!message) break;
        const auto answer =
            ward_.dns().answer(*message, DnsTransport::tcp, std::chrono::steady_clock::now());
        if (!answer) co_return reset(client_);
        const auto framed = with_length(*answer);
        const auto [error, sent] =
            co_await asio::async_write(client_, asio::buffer(framed), async::kQuiet);
        if (error) co_return;
      }
    }
  }

  async::Task<std::size_t> read_some(std::span<std::byte> buffer) {
    const auto [error, got] =
        co_await client_.async_read_some(asio::buffer(buffer.data(), buffer.size()), async::kQuiet);
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error) co_return Error::from_errno("receive", error.value());
    co_return got;
  }

  // Reads up to the end of the client's first hello; gives what was read.
  async::Task<std::string> read_hello(HelloPeeker& peeker) {
    std::string read;
    std::array<std::byte, 4096> buffer{};
    const SocketLimit limit{client_, kHelloTime};
    for (;;) {
      auto some = co_await read_some(buffer);
      if (limit.has_passed()) co_return Error{Errc::timeout, "no hello"};
      CO_TRY(const std::size_t got, std::move(some));
      if (got == 0) co_return Error{Errc::unavailable, "the client has gone"};
      const auto piece = std::span{buffer}.first(got);
      read.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      const auto& verdict = peeker.push(piece);
      if (!std::holds_alternative<HelloPeeker::NeedsMore>(verdict)) co_return read;
    }
  }

  asio::awaitable<void> serve_tls() {
    HelloPeeker peeker;
    auto read = co_await read_hello(peeker);
    if (!read) {
      if (read.error().code() != Errc::timeout) co_return reset(client_);
      co_return refuse(kTlsRefused, "no TLS handshake came within 10 seconds");
    }
    if (const auto refused = judge_first(peeker.push({}))) {
      co_return refuse(kTlsRefused, refused->why);
    }
    if (passage_.judged) co_return co_await terminate(*std::move(read));
    HelloWatch watch{host_};
    const std::string_view behind = std::string_view{*read}.substr(peeker.size());
    if (const auto refused = watch.from_client(as_bytes(behind))) {
      co_return refuse(kTlsRefused, refused->why);
    }
    // An address has no name that a hello could carry.
    co_await pass_through(*std::move(read), policy::ipv4_from(host_) ? nullptr : &watch);
  }

  asio::awaitable<void> terminate(std::string read) {
    CertificateAuthority* const authority = ward_.authority();
    // A policy that was changed may judge what the first one passed through.
    if (authority == nullptr || !authority->may_sign(host_)) {
      co_return refuse(kTlsRefused,
                       "its requests would have to be judged, and this sandbox's authority was "
                       "made without its name: a new sandbox can reach it");
    }
    if (ward_.commons().trusted.size() == 0) {
      co_return refuse(kTlsRefused,
                       "this host has no bundle of trusted authorities, so that no "
                       "request can be judged and sent on");
    }
    const auto leaf = authority->leaf(host_);
    if (!leaf) co_return refuse(kTlsRefused, leaf.error().text());
    co_await judge_requests(std::move(read), *leaf, true);
  }

  // Both ends are its own from here on: it is ended by cancelling it.
  asio::awaitable<void> judge_requests(std::string before, Leaf leaf, bool tls) {
    using namespace asio::experimental::awaitable_operators;
    const Commons& commons = ward_.commons();
    asio::steady_timer ended{commons.executor, asio::steady_timer::time_point::max()};
    Gate gate{ward_, *live_};
    live_->close = [&] {
      gate.abort();
      ended.cancel();
    };
    co_await (serve_http({std::move(client_), std::move(before)},
                         {.name = host_, .port = port_, .tls = tls}, leaf,
                         {commons.tls_server, commons.tls_client}, gate) ||
              until(ended, live_->ended));
    live_->close = [] {};
  }

  // It may have been ended before this is waited for.
  static asio::awaitable<void> until(asio::steady_timer& ended, const bool& is_ended) {
    if (!is_ended) co_await ended.async_wait(async::kQuiet);
  }

  // By whoever else may: a narrower policy, the sandbox's end.
  void end() {
    reset(client_);
    reset(server_);
  }

  std::optional<HelloRefusal> judge_first(const HelloPeeker::Verdict& verdict) const {
    if (const auto* refused = std::get_if<HelloRefusal>(&verdict)) return *refused;
    const auto& hello = std::get<ClientHello>(verdict);
    if (!policy::ipv4_from(host_)) return judge_hello(hello, host_);
    if (!hello.server_name && !hello.encrypted) return std::nullopt;
    return HelloRefusal{.fault = HelloFault::other_name,
                        .why = "the rule allows an address, and the client asks it for a name"};
  }

  asio::awaitable<void> pass_through(std::string first, HelloWatch* watch) {
    const auto dialled = co_await ward_.dialler().dial(*live_, ward_.policy(), server_);
    if (live_->ended) co_return;
    if (!dialled) {
      const bool denied = dialled.error().code() == Errc::denied;
      co_return refuse(denied ? kAddressRefused : kOutside, dialled.error().text());
    }
    address_ = dialled->text();
    tell(false, {});
    const Relayed relayed = co_await relay(
        client_, server_, std::move(first),
        {.budget = ward_.budget(), .watch = watch, .conduit = ward_.commons().conduit});
    if (relayed.cut) tell_cut(*relayed.cut);
    tell(true, relayed);
  }

  void tell_cut(const Error& cut) {
    if (cut.code() == Errc::exhausted) {
      return ward_.reports().refused(
          refused_budget(host_, port_, cut.text(), ward_.rule_of(BudgetKind::bytes)));
    }
    const std::string_view code = cut.code() == Errc::denied ? kTlsRefused : kOutside;
    ward_.reports().refused(refused_connection(code, host_, port_, cut.text()));
  }

  void tell(bool ended, const Relayed& relayed) {
    ward_.reports().used({.host = host_,
                          .port = port_,
                          .address = address_,
                          .ended = ended,
                          .bytes_out = relayed.out,
                          .bytes_in = relayed.in});
  }

  Ward& ward_;
  tcp::socket client_;
  tcp::socket server_{client_.get_executor()};  // dialled, or being so
  std::string host_;
  std::uint16_t port_ = 0;
  policy::Passage passage_;
  std::string address_;  // that was dialled
  bool counted_ = false;
  std::list<LiveConnection>::iterator live_ = ward_.live().end();
};

}  // namespace

asio::awaitable<void> serve_connection(Ward& ward, tcp::socket client) {
  Connection connection{ward, std::move(client)};
  co_await connection.run();
}

}  // namespace cordon::egress
