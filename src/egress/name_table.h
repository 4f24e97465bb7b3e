// SPDX-License-Identifier: Apache-2.0
// Which name an address inside a sandbox stands for. Grows only: an address that was given to a
// name keeps it for the sandbox's life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace cordon::egress {

// What our DNS gives away: 198.18.0.0/15. Exact names of the policy lie from 198.18.16.0 on, names
// under a wildcard from 198.19.0.0 on; 198.18.0.1 is the server itself, and the rest is nobody's.
inline constexpr std::uint32_t kDnsServer = 0xC6120001;
inline constexpr std::uint32_t kFirstPinned = 0xC6121000;
inline constexpr std::uint32_t kFirstFresh = 0xC6130000;
inline constexpr bool is_synthetic(std::uint32_t ipv4) { return (ipv4 >> 17U) == 0xC612U >> 1U; }

// How a name came into the table.
enum class NameOrigin : std::uint8_t {
  pinned,  // the policy names it
  fresh,   // somebody inside asked for it, and a wildcard or the mode allows it
};

struct NamedAddress {
  std::uint32_t ipv4 = 0;
  bool added = false;  // by this call: to be written to the slot before anybody is told

  friend bool operator==(const NamedAddress&, const NamedAddress&) = default;
};

class NameTable {
 public:
  static constexpr std::size_t kMostOfEach = 4096;
  // Of all names together; 4,096 of 128. Whoever asks for longer ones has fewer.
  static constexpr std::size_t kMostBytes = std::size_t{512} * 1024;

  // The address of `name`, a new one where it has none yet. The n-th name of an origin has its n-th
  // address, whatever the other origin holds. A name that is in the table under the other origin
  // keeps its address.
  // Fails: `invalid` for what is no canonical name, `exhausted` where a bound is reached.
  Result<NamedAddress> add(std::string_view name, NameOrigin origin);

  std::optional<std::uint32_t> address_of(std::string_view name) const;
  // The view holds as long as the table.
  std::optional<std::string_view> name_of(std::uint32_t ipv4) const;

  // In the order in which they came.
  const std::vector<std::string>& names(NameOrigin origin) const noexcept {
    return origin == NameOrigin::pinned ? pinned_ : fresh_;
  }
  std::size_t bytes() const noexcept { return bytes_; }

  friend bool operator==(const NameTable&, const NameTable&) = default;

 private:
  // Lookup by a view, without a copy. Whoever is inside can choose names that collide, but no more
  // than the table may hold.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::vector<std::string> pinned_, fresh_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> addresses_;
  std::size_t bytes_ = 0;
};

}  // namespace cordon::egress
