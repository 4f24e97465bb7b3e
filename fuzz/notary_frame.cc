// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message to or from the notary: refused, or one that is written as it was read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "frame/notary.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;
namespace frame = cordon::frame;

template <class Message>
void expect_same(const cordon::Result<Message>& message, std::span<const std::byte> bytes) {
  if (message && !std::ranges::equal(frame::encode(*message), bytes)) {
    broken("what was read is written with the same bytes");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  expect_same(frame::decode_to_notary(bytes), bytes);
  expect_same(frame::decode_from_notary(bytes), bytes);
  return 0;
}
