// SPDX-License-Identifier: Apache-2.0
#include "launcher/deposits.h"

#include <sys/socket.h>

#include "base/id.h"
#include "os/file_status.h"

namespace cordon::launcher {
namespace {

int option_of(const os::Fd& socket, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  if (::getsockopt(socket.get(), SOL_SOCKET, option, &value, &size) != 0) return -1;
  return value;
}

bool is_unix_stream(const os::Fd& fd) {
  return option_of(fd, SO_DOMAIN) == AF_UNIX && option_of(fd, SO_TYPE) == SOCK_STREAM &&
         option_of(fd, SO_ACCEPTCONN) == 0;
}

bool is_plain_file(const os::Fd& fd) {
  const auto status = os::statx(fd);
  return status && status->type == os::FileType::regular;
}

bool is_inet(const os::Fd& fd, int type, int listens) {
  return option_of(fd, SO_DOMAIN) == AF_INET && option_of(fd, SO_TYPE) == type &&
         option_of(fd, SO_ACCEPTCONN) == listens;
}

}  // namespace

Result<os::SteeredSockets> take_sockets(std::vector<os::Fd>& fds) {
  os::SteeredSockets sockets;
  if (fds.size() < 3) return sockets;
  sockets.udp = std::move(fds.back());
  fds.pop_back();
  sockets.tcp = std::move(fds.back());
  fds.pop_back();
  if (!is_inet(sockets.tcp, SOCK_STREAM, 1) || !is_inet(sockets.udp, SOCK_DGRAM, 0)) {
    return Error{Errc::invalid, "the last two are no sockets of a network"};
  }
  return sockets;
}

Status Deposits::add(const std::string& id, std::vector<os::Fd> fds) {
  if (!is_base32_name(id)) return Error{Errc::invalid, "an id that is not of our alphabet"};
  if (fds.empty() || fds.size() > 2) return Error{Errc::invalid, "not one or two descriptors"};
  if (!is_unix_stream(fds[0])) return Error{Errc::invalid, "the first is no stream"};
  if (fds.size() == 2 && !is_plain_file(fds[1]))
    return Error{Errc::invalid, "the second is no lock"};
  if (held_.contains(id)) return Error{Errc::exists, "the id is in use"};
  held_.emplace(id,
                Deposited{std::move(fds[0]), fds.size() == 2 ? std::move(fds[1]) : os::Fd{}, {}});
  return {};
}

Deposited* Deposits::find(const std::string& id) {
  const auto found = held_.find(id);
  return found == held_.end() ? nullptr : &found->second;
}

}  // namespace cordon::launcher
