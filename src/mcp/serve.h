// SPDX-License-Identifier: Apache-2.0
// The filter as a process: frames in, frames out, one after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/clock.h"
#include "base/result.h"

namespace cordon::mcp {

struct Streams {
  // At most as many bytes as there is room for; 0: nothing more comes.
  std::function<Result<std::size_t>(std::span<std::byte>)> read;
  std::function<Status(std::span<const std::byte>)> write;
};

// Until nothing more comes. Anything but a Setup first, and bytes after it, ends it with an Error.
Status serve(const Streams& streams, const Clock& clock);

}  // namespace cordon::mcp
