// SPDX-License-Identifier: Apache-2.0
// File acts under way: each has a pipe on which a sibling of the spawner answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

class FileActs {
 public:
  // Gives the end that the answer is to be written to. `exhausted`: too many are under way.
  Result<os::Fd> begin(const os::Epoll& epoll, std::uint32_t request);
  // The pipe that was tagged with `slot` is readable. The reply, once it is whole; what makes no
  // reply becomes one with EIO.
  std::optional<frame::FileReply> hear(const os::Epoll& epoll, std::uint32_t slot);
  // Nobody waits for the answers any more.
  void abandon(const os::Epoll& epoll);

 private:
  struct Act {
    std::uint32_t request = 0;
    os::Fd answer;
    std::vector<std::byte> bytes;
  };
  std::uint32_t next_slot_ = 0;
  std::map<std::uint32_t, Act> acts_;
};

}  // namespace cordon::guest
