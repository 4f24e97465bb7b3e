// SPDX-License-Identifier: Apache-2.0
// Bytes that were read from a stream and are not used yet: one bounded buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "async/task.h"
#include "base/wiped.h"
#include "http/stream.h"

namespace cordon::egress {

class Inbox {
 public:
  static constexpr std::size_t kSize = std::size_t{16} << 10U;  // a record of TLS

  explicit Inbox(http::Stream& stream) : stream_{stream} {}

  std::string_view bytes() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }
  bool empty() const noexcept { return begin_ == end_; }
  void drop(std::size_t size) noexcept { begin_ += size; }

  // Overwrites all that was ever read; what is not used yet is still there as so many zeros.
  void wipe() noexcept {
    cordon::wipe(std::as_writable_bytes(std::span{buffer_.get(), most_}));
    most_ = 0;
  }

  // Reads more. Before: empty. False: the other side has ended what it says.
  async::Task<bool> fill() {
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kSize);
    begin_ = end_ = 0;
    CO_TRY(end_, co_await stream_.read_some({buffer_.get(), kSize}));
    most_ = std::max(most_, end_);
    co_return end_ > 0;
  }

 private:
  http::Stream& stream_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t most_ = 0;
};

}  // namespace cordon::egress
