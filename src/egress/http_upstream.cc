// SPDX-License-Identifier: Apache-2.0
#include "egress/http_upstream.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace cordon::egress {
namespace {

bool speaks_http11(const SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  ::SSL_get0_alpn_selected(ssl, &name, &size);
  return size == 0 || std::string_view{reinterpret_cast<const char*>(name), size} == "http/1.1";
}

HttpRefusal failed(std::string text) {
  return {.status = 502, .code = "upstream_failed", .text = std::move(text)};
}

}  // namespace

void HttpUpstream::close() noexcept { open_.reset(); }

bool HttpUpstream::is_verified() const noexcept {
  const SSL* const ssl = open_ ? open_->stream.ssl() : nullptr;
  return ssl != nullptr && ::SSL_is_init_finished(ssl) == 1 &&
         ::SSL_get0_peer_certificate(ssl) != nullptr && ::SSL_get_verify_result(ssl) == X509_V_OK;
}

void HttpUpstream::keep_nothing() noexcept {
  if (SSL* const ssl = open_->stream.ssl()) ::SSL_set_options(ssl, SSL_OP_CLEANSE_PLAINTEXT);
}

// Its end, or bytes that nobody asked for: both mean that it must not carry another request.
bool HttpUpstream::is_silent() {
  std::array<char, 1> byte{};
  if (!open_->inbox.empty()) return false;
  const auto got = open_->stream.read_now(byte);
  return !got && got.error().code() == Errc::timeout && open_->stream.is_open();
}

asio::awaitable<Judged<void>> HttpUpstream::open() {
  is_reused_ = open_ && is_silent();
  if (is_reused_) co_return Judged<void>{};
  close();
  auto socket = co_await gate_.dial();
  if (!socket) co_return std::unexpected{std::move(socket).error()};
  open_ = std::make_unique<Open>(*std::move(socket), watchdog_);
  open_->stream.set_patience(times_.idle);
  if (!to_.tls) co_return Judged<void>{};
  auto secured = co_await secure();
  if (!secured) close();
  co_return secured;
}

asio::awaitable<Judged<void>> HttpUpstream::secure() {
  auto ssl = tls_.connect(to_.name);
  if (!ssl) co_return std::unexpected{failed(ssl.error().text())};
  http::Stream& stream = open_->stream;
  stream.limit(times_.handshake);
  const auto done = co_await stream.handshake(*std::move(ssl));
  stream.lift_limit();
  if (const std::string fault = certificate_fault(stream.ssl()); !fault.empty()) {
    co_return std::unexpected{HttpRefusal{
        .status = 502,
        .code = "upstream_certificate",
        .text = fmt::format("the certificate of {}:{} was refused: {}. Nothing was sent.", to_.name,
                            to_.port, fault)}};
  }
  if (!done)
    co_return std::unexpected{failed(fmt::format("no TLS with {}:{}: {}. Nothing was sent.",
                                                 to_.name, to_.port, done.error().text()))};
  if (!is_verified() || !speaks_http11(stream.ssl()))
    co_return std::unexpected{
        failed(fmt::format("{}:{} does not speak HTTP/1.1 over verified TLS", to_.name, to_.port))};
  co_return Judged<void>{};
}

}  // namespace cordon::egress
