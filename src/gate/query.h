// SPDX-License-Identifier: Apache-2.0
// What follows the question mark, in one reading (pure).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::gate {

// Each name once, percent signs resolved.
using Query = std::map<std::string, std::string, std::less<>>;
// `invalid`: it cannot be read in one way.
Result<Query> read_query(std::string_view text);

// Nothing: it is not there. `invalid`: it is no number.
Result<std::optional<std::uint64_t>> number_of(const Query& query, std::string_view name);
// `invalid`: a name is there that is not in `known`.
Status only_known(const Query& query, std::initializer_list<std::string_view> known);

// Of a list of E2B's: what a sandbox is to have been given. `invalid`: it cannot be read.
Result<std::map<std::string, std::string>> wanted_metadata(const Query& query);

}  // namespace cordon::gate
