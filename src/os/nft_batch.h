// SPDX-License-Identifier: Apache-2.0
// A set of nftables rules as the one message that the kernel takes: all of it holds, or none.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::os {

// One rule of an `ip` table, expression by expression. A condition that does not hold ends it.
class NftRule {
 public:
  using Ipv4 = std::array<std::uint8_t, 4>;

  NftRule& protocol_is(std::uint8_t number);
  NftRule& to(const Ipv4& address);
  NftRule& to_block(const Ipv4& address, const Ipv4& mask);
  // Before: the rule has asked for a protocol with ports.
  NftRule& to_port(std::uint16_t port);

  NftRule& count();
  // Hands the packet to the socket that is bound there, whatever its destination says.
  NftRule& steer_to(const Ipv4& address, std::uint16_t port);
  NftRule& accept();
  NftRule& reject_with_reset();
  NftRule& reject_as_prohibited();
  NftRule& reject_as_closed();  // as a port at which nobody listens

  std::span<const std::byte> expressions() const noexcept { return expressions_; }

 private:
  NftRule& reject_with_code(std::uint8_t code);
  void add(std::string_view name, std::span<const std::byte> attributes);
  void load(std::uint32_t base, std::uint32_t offset, std::uint32_t size);
  void equals(std::span<const std::byte> value);
  void set(std::uint32_t reg, std::span<const std::byte> value);

  std::vector<std::byte> expressions_;
};

enum class NftHook : std::uint8_t { prerouting, output };

class NftBatch {
 public:
  explicit NftBatch(std::string_view table);

  // A chain of type filter. `drops`: what no rule decides about is dropped, not accepted.
  void chain(std::string_view name, NftHook hook, std::int32_t priority, bool drops);
  void rule(std::string_view chain, const NftRule& rule);

  // The finished bytes: they can be sent any number of times, to one namespace after the other.
  std::span<const std::byte> finish();
  // Of the last change: what the kernel acknowledges.
  std::uint32_t last() const noexcept { return sequence_; }

 private:
  void change(std::uint16_t kind, std::uint16_t flags, std::span<const std::byte> attributes);
  void frame(std::uint16_t type, std::uint16_t flags, std::uint8_t family, std::uint16_t resource,
             std::span<const std::byte> attributes);

  std::string_view table_;
  std::vector<std::byte> bytes_;
  std::size_t last_change_ = 0;  // where its header is
  std::uint32_t sequence_ = 0;
};

// Into the caller's network namespace. Needs CAP_NET_ADMIN over it.
Status send_nft_batch(std::span<const std::byte> batch, std::uint32_t last);

}  // namespace cordon::os
