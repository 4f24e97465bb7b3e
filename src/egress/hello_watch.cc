// SPDX-License-Identifier: Apache-2.0
#include "egress/hello_watch.h"

#include <algorithm>
#include <cstdint>

namespace cordon::egress {
namespace {

constexpr std::byte kChangeCipherSpec{20};
constexpr std::byte kAlert{21};
constexpr std::byte kHandshake{22};
constexpr std::byte kData{23};
constexpr std::byte kServerHello{2};

// A ServerHello with this for its random asks for another hello (RFC 8446, 4.1.3).
constexpr std::array<std::uint8_t, 32> kRetry{
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};
constexpr std::size_t kRandomAt = 4 + 2;  // behind the message's header and a version

std::size_t length_in(std::span<const std::byte> header) {
  return std::to_integer<std::size_t>(header[3]) << 8U | std::to_integer<std::size_t>(header[4]);
}

}  // namespace

std::optional<TlsRecords::Part> TlsRecords::next(std::span<const std::byte>& piece) {
  if (left_ > 0 && !piece.empty()) {
    const auto payload = piece.first(std::min(left_, piece.size()));
    piece = piece.subspan(payload.size());
    left_ -= payload.size();
    return Part{header_, payload};
  }
  while (!piece.empty()) {
    header_.at(header_size_++) = piece.front();
    piece = piece.subspan(1);
    if (header_size_ < header_.size()) continue;
    header_size_ = 0;
    left_ = length_in(header_);
    return Part{header_, {}};
  }
  return std::nullopt;
}

std::optional<HelloRefusal> HelloWatch::from_client(std::span<const std::byte> piece) {
  while (!over_ && !refused_) {
    const auto part = client_.next(piece);
    if (!part) break;
    refused_ = judge(*part);
  }
  return refused_;
}

std::optional<HelloRefusal> HelloWatch::judge(const TlsRecords::Part& part) {
  const std::byte type = part.header[0];
  const bool known =
      type == kChangeCipherSpec || type == kAlert || type == kHandshake || type == kData;
  if (!known || part.header[1] != std::byte{3})
    return HelloRefusal{HelloFault::not_tls, "bytes that are no TLS behind the hello"};
  if (type != kHandshake) return std::nullopt;
  // Before the server has answered, or when it has asked, a client has nothing to say but a hello.
  const auto& verdict = second_.push(part.payload.empty() ? part.header : part.payload);
  if (const auto* const refusal = std::get_if<HelloRefusal>(&verdict)) return *refusal;
  const auto* const hello = std::get_if<ClientHello>(&verdict);
  if (hello == nullptr) return std::nullopt;
  auto refusal = judge_hello(*hello, name_);
  over_ = !refusal;
  return refusal;
}

void HelloWatch::from_server(std::span<const std::byte> piece) {
  constexpr std::size_t kEnough = kRandomAt + kRetry.size();
  while (!over_ && answer_.size() < kEnough) {
    const auto part = server_.next(piece);
    if (!part) return;
    answer_.insert(answer_.end(), part->payload.begin(), part->payload.end());
    // Anything but a ServerHello: it refuses, or speaks no TLS.
    over_ = part->header[0] != kHandshake || (!answer_.empty() && answer_[0] != kServerHello);
    if (answer_.size() < kEnough) continue;
    const auto random = std::span{answer_}.subspan(kRandomAt, kRetry.size());
    over_ = over_ || !std::ranges::equal(random, std::as_bytes(std::span{kRetry}));
  }
}

}  // namespace cordon::egress
