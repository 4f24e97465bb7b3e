// SPDX-License-Identifier: Apache-2.0
// Which index of a cell acts, and where it is reached: what stands in the cell's etcd (pure).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::fleet {

struct IndexPlace {
  std::string address;       // as gateways reach it
  std::uint64_t number = 0;  // of two of one cell the later one has the greater
  friend bool operator==(const IndexPlace&, const IndexPlace&) = default;
};

// "/cordon/cells/7/index"
std::string index_key_of(std::uint16_t cell);
std::string encode(const IndexPlace& place);
Result<IndexPlace> decode_index(std::string_view text);

// What it proves to be, and the audience of the tokens that it takes: "index-7".
std::string audience_of_index(std::uint16_t cell);

}  // namespace cordon::fleet
