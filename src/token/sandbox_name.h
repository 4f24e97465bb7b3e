// SPDX-License-Identifier: Apache-2.0
// Names of sandboxes that say where they live, and that nobody else can make up (pure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/id.h"
#include "token/key.h"
#include "token/mac.h"

namespace cordon::token {

struct SandboxPlace {
  std::uint16_t cell = 0;
  std::uint32_t node = 0;
  std::uint32_t epoch = 0;  // which start of the node made it
  friend bool operator==(const SandboxPlace&, const SandboxPlace&) = default;
};

// 40 characters: version, cell, node, epoch, ten random bytes, and a short MAC over all of it, by
// the key of the node that made it.
class SandboxNames {
 public:
  static constexpr std::size_t kRandom = 10;

  explicit SandboxNames(const AudienceKey& key);

  // `random`: fresh from the kernel.
  SandboxId make(const SandboxPlace& place, std::span<const std::byte, kRandom> random) const;
  // Where it was made, under this key; nothing: it is none of ours.
  std::optional<SandboxPlace> read(const SandboxId& id) const;

 private:
  std::uint32_t mac(std::span<const std::byte> bytes) const;

  Secret key_;
};

// What a name says, true or not: whose key to read it with.
std::optional<SandboxPlace> claimed_place(const SandboxId& id);

// The audience of the tokens of a node of a fleet: "node-7-42".
std::string audience_of_node(std::uint16_t cell, std::uint32_t node);

}  // namespace cordon::token
