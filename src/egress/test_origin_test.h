// SPDX-License-Identifier: Apache-2.0
// A host outside, in the test's own loop: with a certificate of any quality, and answers to order.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <openssl/pem.h>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/scope.h"
#include "egress/certificate_parts.h"
#include "egress/inbox.h"
#include "http/body.h"
#include "http/parse_head.h"
#include "http/stream.h"
#include "http/watchdog.h"

namespace cordon::egress {

using namespace std::chrono_literals;

struct Pair {
  OwnedKey key;
  OwnedCertificate certificate;
};

inline Life life_around(std::chrono::seconds from, std::chrono::seconds until) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return {.from = now + from, .until = now + until};
}

inline Pair test_authority() {
  Pair made{.key = OwnedKey{::EVP_EC_gen("P-256")}, .certificate = {}};
  made.certificate = *begin_certificate(made.key.get(), "Test authority", life_around(-1h, 1h));
  X509* const it = made.certificate.get();
  EXPECT_TRUE(add_extension(it, NID_basic_constraints, "critical,CA:TRUE"));
  EXPECT_TRUE(add_extension(it, NID_key_usage, "critical,keyCertSign"));
  EXPECT_TRUE(add_key_ids(it, {.certificate = it, .key = made.key.get()}));
  EXPECT_TRUE(sign_certificate(it, {.certificate = it, .key = made.key.get()}));
  return made;
}

inline Pair test_certificate(const Pair& authority, const std::string& name, const Life& life) {
  Pair made{.key = OwnedKey{::EVP_EC_gen("P-256")}, .certificate = {}};
  made.certificate = *begin_certificate(made.key.get(), "Test host", life);
  X509* const it = made.certificate.get();
  const Issuer issuer{.certificate = authority.certificate.get(), .key = authority.key.get()};
  ::X509_set_issuer_name(it, ::X509_get_subject_name(issuer.certificate));
  EXPECT_TRUE(add_extension(it, NID_basic_constraints, "critical,CA:FALSE"));
  EXPECT_TRUE(add_dns_name(it, name));
  EXPECT_TRUE(add_key_ids(it, issuer));
  EXPECT_TRUE(sign_certificate(it, issuer));
  return made;
}

inline std::string pem_of(X509* certificate) {
  const OwnedBio bio{::BIO_new(::BIO_s_mem())};
  ::PEM_write_bio_X509(bio.get(), certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

// One request as the host got it.
struct Seen {
  http::RequestHead head;
  std::string body;
};

class TestOrigin {
 public:
  TestOrigin(const asio::any_io_executor& executor, const Pair* certificate)
      : acceptor_{executor, {asio::ip::address_v4::loopback(), 0}}, watchdog_{executor} {
    if (certificate == nullptr) return;
    context_.reset(::SSL_CTX_new(::TLS_server_method()));
    ::SSL_CTX_use_certificate(context_.get(), certificate->certificate.get());
    ::SSL_CTX_use_PrivateKey(context_.get(), certificate->key.get());
  }

  asio::ip::tcp::endpoint address() const { return acceptor_.local_endpoint(); }

  // What it answers, raw; empty: it closes the connection.
  std::function<std::string(const Seen&)> respond = [](const Seen&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  };
  // In place of reading requests.
  std::function<asio::awaitable<void>(http::Stream&, Inbox&)> script;
  bool closes_after_one = false;

  std::vector<Seen> seen;
  int connections = 0;
  int handshakes = 0;
  bool is_reading_bad = false;  // it was sent what is no request

  asio::awaitable<void> run(async::Scope& scope) {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      ++connections;
      scope.spawn(serve(std::move(socket)));
    }
  }

  static async::Task<std::string> read_body(Inbox& inbox, http::Framing framing) {
    http::BodyReader reader{framing};
    std::string body;
    while (!reader.done()) {
      if (inbox.empty()) {
        CO_TRY(const bool more, co_await inbox.fill());
        if (!more) {
          CO_TRY_DO(reader.finish());
          break;
        }
      }
      CO_TRY(const auto piece, reader.next(inbox.bytes()));
      body.append(piece.data);
      inbox.drop(piece.consumed);
    }
    co_return body;
  }

  static async::Task<http::RequestHead> read_head(Inbox& inbox) {
    http::RequestReader reader;
    for (;;) {
      if (inbox.empty()) {
        CO_TRY(const bool more, co_await inbox.fill());
        if (!more) co_return Error{Errc::unavailable, "ended"};
      }
      CO_TRY(const auto fed, reader.feed(inbox.bytes()));
      inbox.drop(fed.consumed);
      if (fed.done) co_return reader.take();
    }
  }

 private:
  asio::awaitable<void> serve(asio::ip::tcp::socket socket) {
    http::Stream stream{std::move(socket), {}, watchdog_};
    if (context_) {
      OwnedSsl ssl{::SSL_new(context_.get())};
      ::SSL_set_accept_state(ssl.get());
      if (!co_await stream.handshake(std::move(ssl))) co_return;
      ++handshakes;
    }
    Inbox inbox{stream};
    if (script) {
      co_await script(stream, inbox);
      co_return;
    }
    do {
      auto head = co_await read_head(inbox);
      if (!head) {
        is_reading_bad = is_reading_bad || head.error().code() == Errc::invalid;
        co_return;
      }
      const auto framing = http::framing_of(*head);
      auto body = co_await read_body(inbox, framing);
      if (!body) co_return;
      seen.push_back({.head = *std::move(head), .body = *std::move(body)});
      const std::string answer = respond(seen.back());
      if (answer.empty() || !co_await stream.write(answer)) co_return;
    } while (!closes_after_one);
    static_cast<void>(co_await stream.shut());
  }

  asio::ip::tcp::acceptor acceptor_;
  http::Watchdog watchdog_;  // not run: hosts are patient
  OwnedContext context_;
};

}  // namespace cordon::egress
