// SPDX-License-Identifier: Apache-2.0
// The names of this node's sandboxes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/result.h"
#include "token/sandbox_name.h"

namespace cordon::node {

// A gateway reads from a name where to go; a node turns away what it has not made before it looks
// anywhere.
class SandboxIds {
 public:
  using Place = token::SandboxPlace;

  SandboxIds(const token::AudienceKey& key, Place place) : names_{key}, place_{place} {}

  Result<SandboxId> make() const;
  // Where it was made, under this key; nothing: it is none of ours.
  std::optional<Place> read(const SandboxId& id) const { return names_.read(id); }

 private:
  token::SandboxNames names_;
  Place place_;
};

// A tenant's name as the launcher takes it, in the alphabet of ids: the same for the same tenant.
std::string launcher_name_of(std::string_view tenant);

}  // namespace cordon::node
