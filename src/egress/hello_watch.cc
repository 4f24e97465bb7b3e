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
constexpr std::byte kClientHello{1};
constexpr std::byte kServerHello{2};

// A ServerHello with this for its random asks for another hello (RFC 8446, 4.1.3).
constexpr std::array<std::uint8_t, 32> kRetry{
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};
constexpr std::size_t kRandomAt = 5 + 4 + 2;  // behind the headers of record and message, version

std::size_t length_in(std::span<const std::byte> header) {
  return std::to_integer<std::size_t>(header[3]) << 8U | std::to_integer<std::size_t>(header[4]);
}

}  // namespace

std::optional<HelloRefusal> HelloWatch::from_client(std::span<const std::byte> piece) {
  while (!piece.empty() && !over_ && !refused_) {
    if (header_size_ < header_.size()) {
      header_.at(header_size_++) = piece.front();
      piece = piece.subspan(1);
      if (header_size_ == header_.size()) refused_ = begin_record();
      continue;
    }
    const auto part = piece.first(std::min(left_, piece.size()));
    piece = piece.subspan(part.size());
    left_ -= part.size();
    if (header_[0] == kHandshake) refused_ = judge(part);
    if (left_ == 0) header_size_ = 0;
  }
  return refused_;
}

std::optional<HelloRefusal> HelloWatch::begin_record() {
  left_ = length_in(header_);
  const std::byte type = header_[0];
  const bool known =
      type == kChangeCipherSpec || type == kAlert || type == kHandshake || type == kData;
  if (!known || header_[1] != std::byte{3})
    return HelloRefusal{HelloFault::not_tls, "bytes that are no TLS behind the hello"};
  if (left_ > 0) return std::nullopt;
  header_size_ = 0;
  if (type != kHandshake && type != kChangeCipherSpec) return std::nullopt;
  return HelloRefusal{HelloFault::malformed, "an empty record"};
}

std::optional<HelloRefusal> HelloWatch::judge(std::span<const std::byte> part) {
  if (!second_) {
    // The first message behind a hello: another, or what TLS 1.2 goes on with. A server that has
    // asked for a hello accepts nothing else.
    if (part.front() != kClientHello) {
      over_ = true;
      return std::nullopt;
    }
    second_.emplace();
  }
  const bool begins = part.size() + left_ == length_in(header_);
  if (begins) second_->push(header_);
  const HelloPeeker::Verdict& verdict = second_->push(part);
  if (const auto* const refusal = std::get_if<HelloRefusal>(&verdict)) return *refusal;
  const auto* const hello = std::get_if<ClientHello>(&verdict);
  if (hello == nullptr) return std::nullopt;
  auto refusal = judge_hello(*hello, name_);
  over_ = !refusal;
  return refusal;
}

void HelloWatch::from_server(std::span<const std::byte> piece) {
  constexpr std::size_t kEnough = kRandomAt + kRetry.size();
  if (over_ || answer_.size() == kEnough) return;
  const auto part = piece.first(std::min(kEnough - answer_.size(), piece.size()));
  answer_.insert(answer_.end(), part.begin(), part.end());
  if (!answer_.empty() && answer_[0] != kHandshake) over_ = true;  // it refuses, or speaks no TLS
  if (answer_.size() < kEnough || answer_[5] != kServerHello) return;
  if (length_in(answer_) < kEnough - header_.size()) return;  // in pieces: watched to the end
  const auto random = std::span{answer_}.subspan(kRandomAt);
  if (!std::ranges::equal(random, std::as_bytes(std::span{kRetry}))) over_ = true;
}

}  // namespace cordon::egress
