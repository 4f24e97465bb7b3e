// SPDX-License-Identifier: Apache-2.0
// The messages of FUSE as they travel between a guest's kernel and us: cut out of a stream, read
// within their bounds, answered. (pure)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/fuse.h>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace cordon::files {

// Of one read or write.
inline constexpr std::uint32_t kMostData = 128U << 10U;
// Longer than any request: a write with its heads.
inline constexpr std::size_t kLongestRequest = kMostData + 4096;

// What follows the head of a request, taken from the front.
class Body {
 public:
  explicit Body(std::span<const std::byte> bytes) : rest_{bytes} {}

  template <class Fixed>
    requires std::is_trivially_copyable_v<Fixed>
  std::optional<Fixed> take() {
    if (rest_.size() < sizeof(Fixed)) return std::nullopt;
    Fixed value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  // Up to and without its zero.
  std::optional<std::string_view> take_text();
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

struct Request {
  fuse_in_header head;
  Body body;
};

// Bytes go in as they come; whole requests come out.
class RequestCutter {
 public:
  void push(std::span<const std::byte> bytes);
  // Nothing: more bytes are needed. `invalid`: no kernel sends that. Holds until the next push.
  Result<std::optional<Request>> next();

 private:
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
};

class Reply {
 public:
  Reply() : bytes_(sizeof(fuse_out_header)) {}

  template <class Fixed>
    requires std::is_trivially_copyable_v<Fixed>
  void add(const Fixed& value) {
    add(std::as_bytes(std::span{&value, 1}));
  }
  void add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Room for `most` bytes at the end; keep() leaves the first of them.
  std::span<std::byte> room(std::size_t most);
  void keep(std::size_t used);
  std::size_t size() const noexcept { return bytes_.size() - sizeof(fuse_out_header); }

  // `error`: an errno; what was added is left out then.
  std::span<const std::byte> finish(std::uint64_t unique, int error);

 private:
  std::vector<std::byte> bytes_;
  std::size_t kept_ = 0;
};

}  // namespace cordon::files
