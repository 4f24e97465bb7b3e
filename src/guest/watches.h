// SPDX-License-Identifier: Apache-2.0
// The watches of a sandbox, by the host's numbers: each has a pipe on which a child of the spawner
// tells what it sees.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

class Watches {
 public:
  // Gives the end that is told to. An error of the system is the watch's own failure; `invalid`:
  // the number is taken.
  Result<os::Fd> begin(const os::Epoll& epoll, std::uint32_t number);
  // The pipe of that watch is readable. What it says is the workload's word: frames that are none
  // of a watch's end it.
  std::vector<frame::FromGuest> hear(const os::Epoll& epoll, std::uint32_t number);
  void stop(const os::Epoll& epoll, std::uint32_t number);
  void stop_all(const os::Epoll& epoll);

  // While the host does not listen nothing is read: the children wait, then the kernel counts what
  // is lost.
  void pause(const os::Epoll& epoll, bool paused);

 private:
  struct Watch {
    os::Fd pipe;
    frame::FrameCutter cutter;
  };

  bool paused_ = false;
  std::map<std::uint32_t, Watch> watches_;
};

}  // namespace cordon::guest
