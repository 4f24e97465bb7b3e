// SPDX-License-Identifier: Apache-2.0
#include "os/listen_at_path.h"

#include <sys/stat.h>

#include "os/directory.h"
#include "os/file_status.h"
#include "os/own_directory.h"
#include "os/socket.h"

namespace cordon::os {
namespace {

// The umask of a process is one: nothing else runs in this one meanwhile.
class OwnerAndGroup {
 public:
  OwnerAndGroup() : before_{::umask(0117)} {}
  OwnerAndGroup(const OwnerAndGroup&) = delete;
  OwnerAndGroup& operator=(const OwnerAndGroup&) = delete;
  ~OwnerAndGroup() { ::umask(before_); }

 private:
  mode_t before_;
};

}  // namespace

Result<Fd> listen_at_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  TRY(const Fd directory, open_guarded_directory(path.substr(0, slash)));
  // By the open directory, so that it is the one that was looked at.
  TRY(const UnixAddress address, UnixAddress::at_path(proc_path(directory) + "/" + name));
  if (const auto there = statx(directory, name.c_str())) {
    if (there->type != FileType::socket) {
      return Error{Errc::exists, path + ": something else is there"};
    }
    const auto connected = unix_connect(address, SocketType::stream);
    if (connected || connected.error().cause().value() != ECONNREFUSED) {
      return Error{Errc::exists, path + ": another server listens there"};
    }
    TRY_DO(unlinkat(directory, name.c_str()));
  }
  const OwnerAndGroup owner_and_group;
  auto listener = unix_listen(address, SocketType::stream);
  if (!listener) return std::move(listener).error().with(path);
  return listener;
}

}  // namespace cordon::os
