// SPDX-License-Identifier: Apache-2.0
// What a machine's kernel asks for files (FUSE), carried to who serves them on the host, and back.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

class FileCarrier {
 public:
  // `fuse`: /dev/fuse of a mount; `port`: a stream to who serves. Neither blocks.
  FileCarrier(os::Fd fuse, os::Fd port);

  // Until `until` tells of anything; then all that was asked may be carried on later.
  Status carry(const os::Fd& until);
  // For so long.
  Status carry_for(std::chrono::milliseconds span);

 private:
  bool owes() const noexcept { return sent_ < asked_; }
  // Waits for what there is to do, and does it; whether `until` has told of anything.
  Result<bool> turn(const os::Fd* until, int milliseconds);
  Status ask();      // from the kernel, unless one is still being sent
  Status send();     // to the host
  Status answer();   // from the host
  Status pass_on();  // to the kernel, what is whole

  os::Fd fuse_;
  os::Fd port_;
  // Made once: a translated machine takes longer to clear them than to carry a request.
  std::vector<std::byte> request_;
  std::size_t asked_ = 0;  // bytes of it that are a request
  std::size_t sent_ = 0;   // of those
  std::vector<std::byte> piece_;
  std::vector<std::byte> answers_;
};

}  // namespace cordon::guest
