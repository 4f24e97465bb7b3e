// SPDX-License-Identifier: Apache-2.0
#include "launcher/descriptors.h"

#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "os/process.h"

namespace cordon::launcher {

Result<os::Fd> lift(const os::Fd& fd) {
  os::Fd copy{::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAbovePlaces)};
  if (!copy) return Error::from_errno("fcntl");
  return copy;
}

Status place_descriptors(const std::array<const os::Fd*, 3>& standard,
                         std::span<const os::Fd* const> wanted) {
  std::vector<os::Fd> copies;
  copies.reserve(standard.size() + wanted.size());
  for (const std::span<const os::Fd* const> part :
       {std::span<const os::Fd* const>{standard}, wanted}) {
    for (const os::Fd* fd : part) {
      TRY(os::Fd copy, lift(*fd));
      copies.push_back(std::move(copy));
    }
  }
  int place = 0;
  for (const os::Fd& copy : copies) {
    if (::dup3(copy.get(), place, 0) != place) return Error::from_errno("dup3");
    ++place;
  }
  return os::set_cloexec_from(static_cast<unsigned>(place));
}

}  // namespace cordon::launcher
