// SPDX-License-Identifier: Apache-2.0
#include "node/sandbox_ids.h"

#include <span>

#include "base/bytes.h"
#include "os/random.h"
#include "token/mac.h"

namespace cordon::node {

Result<SandboxId> SandboxIds::make() const {
  TRY(const auto random, os::random_bytes<token::SandboxNames::kRandom>());
  return names_.make(place_, random);
}

std::string launcher_name_of(std::string_view tenant) {
  const Digest digest = sha256({as_bytes(tenant)});
  return base32(std::span<const std::byte>{digest}.first(15));
}

}  // namespace cordon::node
