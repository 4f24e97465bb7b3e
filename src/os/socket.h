// SPDX-License-Identifier: Apache-2.0
// Unix sockets: pairs, listeners, and messages that carry descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class SocketType : std::uint8_t {
  stream = SOCK_STREAM,
  seqpacket = SOCK_SEQPACKET,  // keeps messages apart, in order
};

struct SocketPair {
  Fd one;
  Fd two;
};
Result<SocketPair> socketpair(SocketType type);

class UnixAddress {
 public:
  // At most 107 bytes and no NUL. A deeper directory is reached through proc_path of its Fd.
  static Result<UnixAddress> at_path(std::string_view path);
  // A name outside of the file system, bound to the network namespace; anyone in it may connect.
  static Result<UnixAddress> abstract(std::string_view name);

  const sockaddr_un& raw() const noexcept { return raw_; }
  socklen_t size() const noexcept { return size_; }
  std::string_view text() const noexcept;  // for messages

 private:
  UnixAddress() = default;
  sockaddr_un raw_{};
  socklen_t size_ = 0;
};

// Binds and listens. The path must not exist (cause EADDRINUSE). The file gets the mode that the
// umask leaves: set that first, because a chmod afterwards comes too late for who connects in
// between.
Result<Fd> unix_listen(const UnixAddress& address, SocketType type, int backlog = SOMAXCONN);
Result<Fd> unix_connect(const UnixAddress& address, SocketType type);
Result<Fd> accept(const Fd& listener);

// As many descriptors as the kernel lets one message carry.
inline constexpr std::size_t kMostFdsInMessage = 253;

// Sends bytes, and copies of `fds` with the first of them. Gives how many bytes went: all, or on a
// stream perhaps fewer (the descriptors have gone then). Never raises SIGPIPE. A message that
// carries descriptors needs at least one byte.
Result<std::size_t> send(const Fd& socket, std::span<const std::byte> bytes,
                         std::span<const Fd* const> fds = {});

struct Received {
  std::size_t bytes = 0;  // 0: the peer has closed
  std::vector<Fd> fds;    // all CLOEXEC
};

// One message (or what a stream has) into `buffer`. A message longer than the buffer, or with more
// descriptors than `most_fds`, is an error (invalid) and whatever came with it is closed: a peer
// must not be able to have half of a message believed, nor leave descriptors behind in us.
Result<Received> receive(const Fd& socket, std::span<std::byte> buffer, std::size_t most_fds = 0);
// What is there already, without descriptors; where nothing is, it would wait.
Result<Received> receive_now(const Fd& socket, std::span<std::byte> buffer);

// Why a call on what does not block gave nothing: there is nothing yet, or no room yet.
bool would_wait(const Error& error) noexcept;

// Who connected, or made the pair, at that time; ids as our user namespace sees them.
struct PeerCredentials {
  pid_t pid = 0;  // may mean another process by now: decide by uid
  uid_t uid = 0;
  gid_t gid = 0;
};
Result<PeerCredentials> peer_credentials(const Fd& socket);

}  // namespace cordon::os
