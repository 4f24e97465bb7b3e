// SPDX-License-Identifier: Apache-2.0
// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

namespace cordon {

// "256 MiB", "1.5 GiB", "700 bytes": exact where it divides, one decimal otherwise.
std::string to_size_text(std::uint64_t bytes);

}  // namespace cordon
