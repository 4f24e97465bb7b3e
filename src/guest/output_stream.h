// SPDX-License-Identifier: Apache-2.0
// What one process writes: read into a ring, sent in frames with offsets, kept until acknowledged.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "guest/ring.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

class OutputStream {
 public:
  OutputStream(std::uint32_t process, frame::Stream stream, std::size_t capacity, std::uint64_t tag)
      : process_{process}, stream_{stream}, tag_{tag}, ring_{capacity} {}

  // The reading end, which does not block; from now on watched while there is room for its bytes.
  Status open(const os::Epoll& epoll, os::Fd fd);
  // There is none, or there will be no more.
  void end(const os::Epoll& epoll);

  // Reads once: the epoll set says that there is something.
  Status fill(const os::Epoll& epoll);
  // Reads all that is there and fits, for the moment when the writer has ended.
  Status drain(const os::Epoll& epoll);
  // The same of one whose end the kernel does not tell: when what is there has been read, it ends.
  Status drain_to_end(const os::Epoll& epoll);

  // Appends one frame that is owed, data before the end. False: nothing was owed.
  bool append_owed(std::vector<std::byte>& out);

  // False: a byte is acknowledged that was never sent.
  Result<bool> acknowledge(const os::Epoll& epoll, std::uint64_t offset);
  // Owes all again that is not acknowledged.
  void resume() noexcept;

  std::uint64_t received() const noexcept { return ring_.end(); }
  std::uint64_t acknowledged() const noexcept { return ring_.begin(); }
  std::uint64_t sent() const noexcept { return sent_; }
  // Ended, and the host has every byte.
  bool finished() const noexcept { return ended_ && !end_owed_ && ring_.begin() == ring_.end(); }

 private:
  Status read_once(const os::Epoll& epoll);
  Status watch(const os::Epoll& epoll, bool on);

  std::uint32_t process_;
  frame::Stream stream_;
  std::uint64_t tag_;
  os::Fd fd_;
  bool watched_ = false;
  bool is_left_ = false;  // nobody writes any more
  bool ended_ = false;
  bool end_owed_ = false;
  Ring ring_;
  std::uint64_t sent_ = 0;
};

}  // namespace cordon::guest
