// SPDX-License-Identifier: Apache-2.0
// Bytes as they were before somebody compressed them, however they did. (pure)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::machine {

// gzip, xz, lzma, bzip2, lz4 (also the kernel's own kind), zstd; what is not compressed is given
// back. `exhausted`: more than `most` bytes. What follows the compressed bytes is left alone.
Result<std::string> decompress(std::string_view bytes, std::size_t most);

}  // namespace cordon::machine
