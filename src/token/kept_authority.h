// SPDX-License-Identifier: Apache-2.0
// What a bearer may do, as a node keeps it for a key that stands for it: caveats and the ids by
// which it can be revoked, and nothing that a token could be made of.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "token/authority.h"

namespace cordon::token {

// `invalid`: a caveat is not within its bounds. `exhausted`: it has more than kMostCaveats.
Result<std::vector<std::byte>> write_kept(const Authority& authority);

// The inverse. `invalid`: not what write_kept() writes.
Result<Authority> read_kept(Bytes bytes);

}  // namespace cordon::token
