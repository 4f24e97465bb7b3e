// SPDX-License-Identifier: Apache-2.0
// A descriptor of Asio's, lent to a call of ours that wants an os::Fd.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "os/fd.h"

namespace cordon::async {

// Borrows the number for as long as this lives; the descriptor stays its owner.
class BorrowedFd {
 public:
  explicit BorrowedFd(asio::posix::stream_descriptor& owner) : fd_{owner.native_handle()} {}
  BorrowedFd(const BorrowedFd&) = delete;
  BorrowedFd& operator=(const BorrowedFd&) = delete;
  ~BorrowedFd() { static_cast<void>(fd_.release()); }
  const os::Fd& operator*() const noexcept { return fd_; }

 private:
  os::Fd fd_;
};

}  // namespace cordon::async
