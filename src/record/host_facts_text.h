// SPDX-License-Identifier: Apache-2.0
// Facts of a host as lines of text: kept in a file, or told by a launcher to its node.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "record/host_facts.h"

namespace cordon {

// Without the capacity, which is asked for anew.
std::string to_text(const HostFacts& facts);
// `invalid` where it is not one, or of another version.
Result<HostFacts> host_facts_from(std::string_view text);

}  // namespace cordon
