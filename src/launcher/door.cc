// SPDX-License-Identifier: Apache-2.0
#include "launcher/door.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <sys/stat.h>

#include "frame/launcher.h"
#include "launcher/floor.h"
#include "os/directory.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "os/own_directory.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr int kBacklog = 8;      // there is one node
constexpr int kPatience = 2000;  // milliseconds, for a launcher's first word
constexpr int kMostTries = 10;

// The umask of a process is one: nothing else runs in this one meanwhile.
class OnlyOwner {
 public:
  OnlyOwner() : before_{::umask(0177)} {}
  OnlyOwner(const OnlyOwner&) = delete;
  OnlyOwner& operator=(const OnlyOwner&) = delete;
  ~OnlyOwner() { ::umask(before_); }

 private:
  mode_t before_;
};

// Whether somebody listens there who says a word, or at least stays. What a launcher that was
// killed had begun holds its socket open for a moment, and lets go without one.
bool is_answered(const os::UnixAddress& address) {
  for (int tried = 0; tried < kMostTries; ++tried) {
    const auto connected = os::unix_connect(address, os::SocketType::seqpacket);
    if (!connected) return connected.error().cause().value() != ECONNREFUSED;
    pollfd word{.fd = connected->get(), .events = POLLIN, .revents = 0};
    if (::poll(&word, 1, kPatience) <= 0) return true;
    std::array<std::byte, 1> first{};
    const auto got = os::receive(*connected, first);
    if (got && got->bytes > 0) return true;
  }
  return true;
}

// Takes away a socket at which nobody listens any more.
Status clear(const os::Fd& directory, const std::string& name, const os::UnixAddress& address) {
  const auto there = os::statx(directory, name.c_str());
  if (!there && there.error().code() == Errc::not_found) return {};
  if (!there) return there.error();
  if (there->type != os::FileType::socket) return Error{Errc::exists, "something else is there"};
  if (is_answered(address)) return Error{Errc::exists, "another launcher listens there"};
  return os::unlinkat(directory, name.c_str());
}

}  // namespace

Result<Door> Door::open(const std::string& path, uid_t node) {
  if (!is_plain_path(path)) return Error{Errc::invalid, path + ": not an absolute plain path"};
  const std::size_t slash = path.rfind('/');
  TRY(os::Fd directory, os::open_guarded_directory(path.substr(0, slash)));
  // Two that start at once must not each take the other's for one that was left.
  TRY(const os::Fd turn, os::open_guarded_directory(path.substr(0, slash)));
  Status mine = os::try_flock(turn, os::Lock::exclusive);
  if (!mine) return std::move(mine).error().with(path + ": another launcher is at it");
  std::string name = path.substr(slash + 1);
  // By the open directory, so that it is the one that was looked at.
  TRY(const os::UnixAddress address,
      os::UnixAddress::at_path(os::proc_path(directory) + "/" + name));
  Status cleared = clear(directory, name, address);
  if (!cleared) return std::move(cleared).error().with(path);
  const OnlyOwner only_owner;
  auto listener = os::unix_listen(address, os::SocketType::seqpacket, kBacklog);
  if (!listener) return std::move(listener).error().with(path);
  Door door{std::move(directory), std::move(name), *std::move(listener), node};
  TRY_DO(os::fchownat(door.directory_, door.name_.c_str(), node, 0));
  TRY_DO(os::set_nonblocking(door.listener_, true));
  return door;
}

Door::~Door() {
  if (directory_) static_cast<void>(os::unlinkat(directory_, name_.c_str()));
}

Result<os::Fd> Door::accept() const {
  TRY(os::Fd peer, os::accept(listener_));
  TRY_DO(os::set_nonblocking(peer, true));
  TRY(const os::PeerCredentials credentials, os::peer_credentials(peer));
  if (credentials.uid != node_) {
    turn_away(peer, "denied", "this launcher serves another user");
    return Error{Errc::denied, "uid " + std::to_string(credentials.uid)};
  }
  return peer;
}

void turn_away(const os::Fd& peer, const std::string& code, const std::string& text) {
  const auto word = frame::encode(frame::FromLauncher{frame::Refused{{}, code, text}});
  static_cast<void>(os::send(peer, word));
}

}  // namespace cordon::launcher
