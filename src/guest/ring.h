// SPDX-License-Identifier: Apache-2.0
// The bytes of one output stream that the host has not acknowledged yet: the buffer of record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// Holds the bytes [begin, end) of a stream, at most `capacity` of them. It takes memory with the
// first byte and gives it back whenever it is drained; no child inherits what it holds.
class Ring {
 public:
  explicit Ring(std::size_t capacity) noexcept : capacity_{capacity} {}
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;
  ~Ring();

  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  bool full() const noexcept { return end_ - begin_ == capacity_; }

  enum class Read : std::uint8_t { some, nothing_now, ended };
  // One read of what `fd`, which does not block, has and the ring can hold. Before: not full. An
  // error of the descriptor is its end: a terminal without a holder answers EIO.
  Result<Read> read_from(const os::Fd& fd);

  // Before: [offset, offset + count) lies within the ring.
  void copy_to(std::vector<std::byte>& out, std::uint64_t offset, std::size_t count) const;

  // Lets go of all bytes before `offset`; one that is known already changes nothing. False: there
  // is no such byte yet.
  bool acknowledge(std::uint64_t offset) noexcept;

 private:
  Status map();
  Result<Read> read_first(const os::Fd& fd);

  std::size_t capacity_;
  std::byte* memory_ = nullptr;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace cordon::guest
