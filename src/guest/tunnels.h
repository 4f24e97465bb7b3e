// SPDX-License-Identifier: Apache-2.0
// The tunnels of a sandbox, by the host's numbers.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "guest/tunnel.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

// What the host says of a tunnel that is over is passed over: it may not know yet.
class Tunnels {
 public:
  // Gives the end for whoever connects. An error of the system is the tunnel's own failure;
  // `invalid`: the number is taken.
  Result<os::Fd> open(const os::Epoll& epoll, std::uint32_t number);
  void hear_answer(const os::Epoll& epoll, std::uint32_t number);
  void move(const os::Epoll& epoll, std::uint32_t number);

  Status give(const os::Epoll& epoll, const frame::TunnelData& data);
  Status end_input(const os::Epoll& epoll, std::uint32_t number);
  Status confirm(const os::Epoll& epoll, const frame::TunnelTaken& taken);
  void close(const os::Epoll& epoll, std::uint32_t number);
  void close_all(const os::Epoll& epoll);

  // One frame of each kind and tunnel, each in its turn, until there are `most` bytes. False:
  // nothing was owed.
  bool append_owed(const os::Epoll& epoll, std::vector<std::byte>& out, std::size_t most);

 private:
  std::map<std::uint32_t, Tunnel> tunnels_;
  std::uint32_t turn_ = 0;  // the one that was served last
};

}  // namespace cordon::guest
