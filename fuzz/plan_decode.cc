// SPDX-License-Identifier: Apache-2.0
// Any bytes as a launch plan: they are refused, or they are exactly what the codec writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "frame/launch_plan.h"
#include "promise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto received = cordon::frame::decode_plan(bytes);
  if (!received) return 0;
  if (!std::ranges::equal(encode(received->plan()), bytes)) {
    cordon::fuzz::broken("a plan is written as it was read");
  }
  return 0;
}
