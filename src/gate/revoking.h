// SPDX-License-Identifier: Apache-2.0
// What is taken back by a request to take a token back, and whether who asks may (pure).
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "gate/gate.h"
#include "gate/query.h"
#include "token/chain.h"

namespace cordon::gate {

struct TakenBack {
  token::RevocationId id{};
  WallTime until{};      // from then on no token bears it that would hold
  std::string tenant{};  // whose account it is in; empty: nobody's
};

struct Revoking {
  const Bearer& asks;
  const std::optional<std::string>& token;  // that was shown to be taken back
  const Query& query;                       // `id`, `seconds`
  WallTime now;
};
// Who shows a token may take it back within its tenant; who only knows an id must be an operator,
// or it must be the id of what it asks with. `denied`: it may not. `invalid`: it names nothing, or
// two things, or what is no token of ours.
Result<TakenBack> taken_back(const Gate& gate, const Revoking& revoking);

}  // namespace cordon::gate
