// SPDX-License-Identifier: Apache-2.0
// The guest's end of the stream to the host: a socket, or where no socket reaches in (behind a
// user-space kernel, in a virtual machine) what is read and what is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/epoll.h"
#include "os/fd.h"
#include "os/socket.h"

namespace cordon::guest {

class Control {
 public:
  // A connected stream socket, over which another one may come.
  explicit Control(os::Fd socket) noexcept : in_{std::move(socket)} {}
  // Two pipes, say. Before: neither blocks.
  Control(os::Fd in, os::Fd out) noexcept : in_{std::move(in)}, out_{std::move(out)} {}

  bool is_readable() const;
  // How much can be read at once, at most `most`; at least 1.
  std::size_t readable_bytes(std::size_t most) const;

  // What has come; `would_wait` (os/socket.h) where nothing has. 0 bytes: its end.
  Result<os::Received> receive(std::span<std::byte> buffer) const;
  // How much was taken; an Error where nothing can be now.
  Result<std::size_t> send(std::span<const std::byte> bytes) const;

  // Tells of EPOLLIN and EPOLLOUT, as far as asked for; the first time, and whenever it changes.
  Status watch(const os::Epoll& epoll, std::uint32_t events, std::uint64_t tag);
  void leave(const os::Epoll& epoll);

 private:
  bool is_socket() const noexcept { return !out_; }

  os::Fd in_;
  os::Fd out_;  // empty: a socket does both
  bool is_watched_ = false;
  bool is_out_watched_ = false;
  std::uint32_t watched_ = 0;
};

}  // namespace cordon::guest
