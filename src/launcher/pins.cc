// SPDX-License-Identifier: Apache-2.0
#include "launcher/pins.h"

#include <fcntl.h>
#include <utility>

#include <fmt/format.h>

#include "launcher/engine_files.h"
#include "launcher/file_digest.h"

namespace cordon::launcher {

Result<os::Fd> Pins::open(const std::string& path, int flags) {
  const auto wanted = wanted_.find(path);
  if (wanted == wanted_.end()) return open_trusted(path, flags);
  TRY(os::Fd file, open_trusted(path, O_RDONLY));
  // Asked before it is read: what is written meanwhile is seen by the next who asks.
  TRY(const os::FileStatus about, os::statx(file));
  const Seen now{about.device, about.inode, about.size, about.changed};
  if (const auto right = right_.find(path); right != right_.end() && right->second == now) {
    return file;
  }
  right_.erase(path);
  TRY(const std::string digest, digest_of(file));
  if (digest != wanted->second) {
    return Error{Errc::denied,
                 fmt::format("{}: it is {}, and the floor's `pin` is {}: it was changed. Put back "
                             "what was there, or pin what is there now",
                             path, digest, wanted->second)};
  }
  right_.insert_or_assign(path, now);
  return file;
}

}  // namespace cordon::launcher
