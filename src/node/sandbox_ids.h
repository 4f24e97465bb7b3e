// SPDX-License-Identifier: Apache-2.0
// Names of sandboxes that say where they live, and that nobody else can make up.
#pragma once

#include <cstdint>
#include <optional>

#include "base/id.h"
#include "base/result.h"
#include "token/key.h"
#include "token/mac.h"

namespace cordon::node {

// 40 characters: version, cell, node, epoch, ten random bytes, and a short MAC over all of it. A
// gateway reads from it where to go; a node turns away what it has not made before it looks
// anywhere.
class SandboxIds {
 public:
  struct Place {
    std::uint16_t cell = 0;
    std::uint32_t node = 0;
    std::uint32_t epoch = 0;  // which start of the node made it
    friend bool operator==(const Place&, const Place&) = default;
  };

  SandboxIds(const token::AudienceKey& key, Place place);

  Result<SandboxId> make() const;
  // Where it was made, under this key; nothing: it is none of ours.
  std::optional<Place> read(const SandboxId& id) const;

 private:
  std::uint32_t mac(std::span<const std::byte> bytes) const;

  token::Secret key_;
  Place place_;
};

// A tenant's name as the launcher takes it, in the alphabet of ids: the same for the same tenant.
std::string launcher_name_of(std::string_view tenant);

}  // namespace cordon::node
