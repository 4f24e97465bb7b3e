// SPDX-License-Identifier: Apache-2.0
// Any bytes as frames of the guest protocol, in both directions: they are refused, or they are
// exactly what the codec writes; and a stream is cut the same way however its bytes arrive.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frame/guest.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace frame = cordon::frame;
using Bytes = std::vector<std::byte>;

template <class Decoded>
void write_again(const Decoded& decoded, std::span<const std::byte> body) {
  if (!decoded) return;
  const Bytes framed = encode(*decoded);
  if (!std::ranges::equal(std::span{framed}.subspan(4), body)) {
    broken("a frame is written as it was read");
  }
}

// The bodies of a stream, and whether it ended in an error.
struct Cut {
  std::vector<Bytes> bodies;
  bool failed = false;

  friend bool operator==(const Cut&, const Cut&) = default;
};

Cut cut(std::span<const std::byte> stream, std::size_t chunk) {
  constexpr std::size_t kLongest = 1000;
  frame::FrameCutter cutter{kLongest};
  Cut result;
  while (!stream.empty() && !result.failed) {
    const auto piece = stream.first(std::min(chunk, stream.size()));
    stream = stream.subspan(piece.size());
    cutter.push(piece);
    while (true) {
      const auto next = cutter.next();
      result.failed = !next;
      if (!next) break;
      const auto& body = *next;
      if (!body) break;
      if (body->empty() || body->size() > kLongest) broken("a body within its bounds");
      result.bodies.emplace_back(body->begin(), body->end());
    }
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  write_again(frame::decode_to_guest(bytes), bytes);
  write_again(frame::decode_from_guest(bytes), bytes);

  const Cut whole = cut(bytes, size + 1);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    if (cut(bytes, chunk) != whole) broken("a stream is cut alike however it arrives");
  }
  for (const Bytes& body : whole.bodies) {
    write_again(frame::decode_to_guest(body), body);
    write_again(frame::decode_from_guest(body), body);
  }
  return 0;
}
