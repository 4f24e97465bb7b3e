// SPDX-License-Identifier: Apache-2.0
#include "egress/dns_stream.h"

#include "egress/dns_query.h"

namespace cordon::egress {

void DnsStream::push(std::span<const std::byte> piece) {
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  held_.insert(held_.end(), piece.begin(), piece.end());
}

Result<std::optional<std::vector<std::byte>>> DnsStream::next() {
  using Message = std::optional<std::vector<std::byte>>;
  const auto rest = std::span{held_}.subspan(taken_);
  if (rest.size() < 2) return Message{};
  const std::size_t size =
      std::to_integer<std::size_t>(rest[0]) << 8U | std::to_integer<std::size_t>(rest[1]);
  if (size == 0 || size > kLongestDnsQueryByTcp)
    return Error{Errc::invalid, "DNS over TCP: a length that no query has"};
  if (rest.size() - 2 < size) return Message{};
  taken_ += 2 + size;
  const auto message = rest.subspan(2, size);
  return Message{std::in_place, message.begin(), message.end()};
}

std::vector<std::byte> with_length(std::span<const std::byte> message) {
  std::vector<std::byte> framed{static_cast<std::byte>(message.size() >> 8U),
                                static_cast<std::byte>(message.size() & 0xFFU)};
  framed.insert(framed.end(), message.begin(), message.end());
  return framed;
}

}  // namespace cordon::egress
