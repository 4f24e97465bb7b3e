// SPDX-License-Identifier: Apache-2.0
// What the host writes to one process: held until the program takes it, never more than the window.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

#include "base/result.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

class InputStream {
 public:
  explicit InputStream(std::uint64_t tag) noexcept : tag_{tag} {}

  // The writing end, which does not block. What was given before is written now.
  Status open(const os::Epoll& epoll, os::Fd fd, bool terminal);
  // Before it is opened. From then on the terminal's keys for signals go there, and not into it.
  void give_keys_to(os::Fd herald) noexcept { herald_ = std::move(herald); }
  // Nobody will read: all that was given and will be given counts as taken.
  void close(const os::Epoll& epoll);

  // Bytes that were given before (after a Resume the host cannot know) are passed over. `invalid`:
  // a gap, more than the window, or bytes after the end.
  Status give(const os::Epoll& epoll, std::uint64_t offset, std::string_view bytes, bool last);
  // The epoll set says that there is room.
  Status flush(const os::Epoll& epoll);

  std::uint64_t taken() const noexcept { return taken_; }
  // What was given in all, and whether more may be.
  std::uint64_t given() const noexcept { return taken_ + held_.size(); }
  bool ended() const noexcept { return last_ || closed_; }

 private:
  Status watch(const os::Epoll& epoll, bool on);
  void finish(const os::Epoll& epoll);
  ssize_t write_some(std::string_view bytes) const;

  std::uint64_t tag_;
  os::Fd fd_;
  os::Fd herald_;
  bool terminal_ = false;
  bool closed_ = false;
  bool last_ = false;
  bool watched_ = false;
  char newest_ = '\n';  // the last byte that was written
  std::string held_;    // [taken, given)
  std::uint64_t taken_ = 0;
};

}  // namespace cordon::guest
