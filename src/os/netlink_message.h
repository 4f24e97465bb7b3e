// SPDX-License-Identifier: Apache-2.0
// Building netlink messages and walking over received ones, without a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/netlink.h>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace cordon::os {

// One message: header, a fixed part, attributes; each padded to four bytes.
class NetlinkMessage {
 public:
  NetlinkMessage(std::uint16_t type, std::uint16_t flags);

  template <class T>
  void fixed(const T& part) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span{&part, 1}));
  }
  // Before: shorter than 64 KiB.
  void attribute(std::uint16_t type, std::span<const std::byte> value);
  void attribute(std::uint16_t type, std::uint32_t value);
  void attribute(std::uint16_t type, std::string_view text);  // with its NUL
  // What is added between the two lies in one attribute.
  std::size_t open(std::uint16_t type);
  void close(std::size_t opened);
  // Attributes that are finished already.
  void raw(std::span<const std::byte> attributes) { append(attributes); }

  // The finished bytes, under this number.
  std::span<const std::byte> finish(std::uint32_t sequence);

 private:
  void append(std::span<const std::byte> bytes);
  std::vector<std::byte> bytes_;
};

struct NetlinkPart {
  std::uint16_t type = 0;
  std::uint32_t sequence = 0;            // of messages; 0 for attributes
  std::span<const std::byte> payload{};  // into the bytes walked over
};

// The messages, or the attributes, that lie one behind the other in `bytes`. A length that leads
// out of them is an error (invalid).
Result<std::vector<NetlinkPart>> split_messages(std::span<const std::byte> bytes);
Result<std::vector<NetlinkPart>> split_attributes(std::span<const std::byte> bytes);

// The fixed part at the front of a payload; `invalid` when it is too short.
template <class T>
Result<T> read_fixed(std::span<const std::byte> payload) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (payload.size() < sizeof(T)) return Error{Errc::invalid, "netlink: a payload is too short"};
  T part;
  std::memcpy(&part, payload.data(), sizeof part);
  return part;
}

}  // namespace cordon::os
