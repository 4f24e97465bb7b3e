// SPDX-License-Identifier: Apache-2.0
// What waits to be written to one side of who stands between two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cordon::frame {

// With more than this waiting for one side, the other is not heard until it has been taken.
inline constexpr std::size_t kMostOwed = std::size_t{1} << 20U;

// Whole frames on their way to one side.
class Owed {
 public:
  bool empty() const noexcept { return sent_ == bytes_.size(); }
  bool is_full() const noexcept { return has_at_least(kMostOwed); }
  bool has_at_least(std::size_t size) const noexcept { return bytes_.size() - sent_ >= size; }
  void add(std::span<const std::byte> framed) {
    if (sent_ >= kMostOwed) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(sent_));
      sent_ = 0;
    }
    bytes_.insert(bytes_.end(), framed.begin(), framed.end());
  }
  void add_body(std::span<const std::byte> body) {
    const auto length = static_cast<std::uint32_t>(body.size());
    add(std::as_bytes(std::span{&length, 1}));
    add(body);
  }
  void clear() {
    bytes_ = std::vector<std::byte>{};
    sent_ = 0;
  }
  std::span<const std::byte> rest() const { return std::span{bytes_}.subspan(sent_); }
  void took(std::size_t count) {
    sent_ += count;
    if (empty()) clear();
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

}  // namespace cordon::frame
