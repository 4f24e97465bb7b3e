// SPDX-License-Identifier: Apache-2.0
// DNS over TCP: messages with their length before them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace cordon::egress {

class DnsStream {
 public:
  // The next bytes of the client. Before: next() was asked until it gave nothing.
  void push(std::span<const std::byte> piece);

  // The next whole message; nothing: more bytes are needed. Fails for good at a length that no
  // query has: such a client is not listened to any longer.
  Result<std::optional<std::vector<std::byte>>> next();

 private:
  std::vector<std::byte> held_;
  std::size_t taken_ = 0;  // of held_
};

// Before: shorter than 64 KiB, as every answer is.
std::vector<std::byte> with_length(std::span<const std::byte> message);

}  // namespace cordon::egress
