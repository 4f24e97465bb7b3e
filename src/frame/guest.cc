// SPDX-License-Identifier: Apache-2.0
#include "frame/guest.h"

#include <cstring>

#include "frame/variant.h"

namespace cordon::frame {

std::vector<std::byte> encode(const ToGuest& frame) { return with_length(encode_variant(frame)); }
std::vector<std::byte> encode(const FromGuest& frame) { return with_length(encode_variant(frame)); }

void append(std::vector<std::byte>& out, const FromGuest& frame) {
  const std::vector<std::byte> bytes = encode(frame);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Result<ToGuest> decode_to_guest(std::span<const std::byte> body) {
  return decode_variant<ToGuest>(body);
}
Result<FromGuest> decode_from_guest(std::span<const std::byte> body) {
  return decode_variant<FromGuest>(body);
}

void FrameCutter::push(std::span<const std::byte> bytes) {
  if (start_ > 0) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(start_));
    start_ = 0;
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<std::span<const std::byte>>> FrameCutter::next() {
  using Body = std::optional<std::span<const std::byte>>;
  if (start_ == held_.size()) {
    // Between frames it holds no memory: most streams are idle most of the time.
    held_ = std::vector<std::byte>{};
    start_ = 0;
  }
  const std::span<const std::byte> rest = std::span{held_}.subspan(start_);
  std::uint32_t length = 0;
  if (rest.size() < sizeof length) return Body{};
  std::memcpy(&length, rest.data(), sizeof length);
  if (length == 0 || length > longest_) {
    return Error{Errc::invalid, "a frame of " + std::to_string(length) + " bytes"};
  }
  if (rest.size() - sizeof length < length) return Body{};
  start_ += sizeof length + length;
  return Body{rest.subspan(sizeof length, length)};
}

}  // namespace cordon::frame
