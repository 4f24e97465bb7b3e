// SPDX-License-Identifier: Apache-2.0
#include "egress/hello_peeker.h"

#include <algorithm>

namespace cordon::egress {
namespace {

constexpr std::byte kHandshakeRecord{22};
constexpr std::byte kClientHello{1};
constexpr std::size_t kMessageHeader = 4;

std::size_t number(std::span<const std::byte> bytes) {
  std::size_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::size_t>(byte);
  return value;
}

}  // namespace

const HelloPeeker::Verdict& HelloPeeker::push(std::span<const std::byte> piece) {
  while (!piece.empty() && std::holds_alternative<NeedsMore>(verdict_)) {
    if (left_ == 0) {
      take_header(piece.front());
      piece = piece.subspan(1);
      continue;
    }
    const auto part = piece.first(std::min(left_, piece.size()));
    message_.insert(message_.end(), part.begin(), part.end());
    left_ -= part.size();
    piece = piece.subspan(part.size());
    take_fragment();
  }
  return verdict_;
}

void HelloPeeker::take_header(std::byte next) {
  header_.at(header_size_++) = next;
  if (header_size_ == 1 && next != kHandshakeRecord) {
    const bool ssl2 = (next & std::byte{0x80}) != std::byte{0};
    return refuse(HelloFault::not_tls,
                  ssl2 ? "no TLS, or a hello of SSL 2" : "bytes that are no TLS");
  }
  if (header_size_ == 2 && next != std::byte{3})
    return refuse(HelloFault::not_tls, "bytes that are no TLS");
  if (header_size_ == 3 && (next < std::byte{1} || next > std::byte{3}))
    return refuse(HelloFault::malformed, "a record of an unknown version");
  if (header_size_ < header_.size()) return;

  header_size_ = 0;
  left_ = number(std::span{header_}.last(2));
  seen_ += header_.size() + left_;
  if (left_ == 0) return refuse(HelloFault::malformed, "an empty record");
  if (seen_ > kMostBytes) return refuse(HelloFault::too_long, "a hello of more than 16 KiB");
}

void HelloPeeker::take_fragment() {
  if (message_.front() != kClientHello)
    return refuse(HelloFault::malformed, "a message other than a client's hello");
  if (message_.size() < kMessageHeader) return;
  const std::size_t size = kMessageHeader + number(std::span{message_}.subspan(1, 3));
  if (size > kMostBytes) return refuse(HelloFault::too_long, "a hello of more than 16 KiB");
  // Whatever a client says next, it says in a record of its own.
  if (message_.size() + left_ > size)
    return refuse(HelloFault::malformed, "bytes after the hello in its record");
  if (message_.size() < size) return;
  auto hello = parse_client_hello(std::span{message_}.subspan(kMessageHeader));
  if (hello) {
    verdict_ = *std::move(hello);
  } else {
    verdict_ = std::move(hello).error();
  }
}

void HelloPeeker::refuse(HelloFault fault, std::string why) {
  verdict_ = HelloRefusal{fault, std::move(why)};
}

}  // namespace cordon::egress
