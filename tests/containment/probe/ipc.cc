// SPDX-License-Identifier: Apache-2.0
// Group O: other ways to talk to what is outside.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

Answer connect_unix(std::string_view name, bool abstract, int type) {
  sockaddr_un address{.sun_family = AF_UNIX};
  const std::size_t skip = abstract ? 1 : 0;
  name = name.substr(0, sizeof address.sun_path - skip - 1);
  std::memcpy(address.sun_path + skip, name.data(), name.size());
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return answer(-1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + skip + name.size());
  const Answer got = answer(::connect(fd, reinterpret_cast<const sockaddr*>(&address), size));
  ::close(fd);
  return got;
}

// `--abstract NAME`: the host listens on NAME-stream, NAME-dgram and NAME-seqpacket.
void abstract_sockets(const Words& words, Findings& out) {
  const std::string name = words.get("abstract");
  if (name.empty()) return out.skip("no abstract socket given");
  for (const auto& [suffix, type] :
       {std::pair{"-stream", SOCK_STREAM}, std::pair{"-dgram", SOCK_DGRAM},
        std::pair{"-seqpacket", SOCK_SEQPACKET}}) {
    out.refused(std::string{"connect @"} + suffix, connect_unix(name + suffix, true, type),
                {ECONNREFUSED, EPERM});
  }
}

void pathname_sockets(const Words& words, Findings& out) {
  for (const std::string& path : words.list("sockets")) {
    out.refused("connect " + path, connect_unix(path, false, SOCK_STREAM), {ENOENT});
  }
  std::string found;
  walk("/", [&](const std::string& path, unsigned char type) {
    if (type == DT_SOCK) found = path;
    return found.empty();
  });
  out.holds("no socket in the tree", found.empty(), found.empty() ? "0 sockets" : found);
}

void local_sockets(const Words& words, Findings& out) {
  sockaddr_un address{.sun_family = AF_UNIX};
  std::memcpy(address.sun_path, "\0own-name", 9);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return out.control("AF_UNIX works inside", false, name_of_error(errno));
  const Answer bound = answer(::bind(listener, reinterpret_cast<const sockaddr*>(&address),
                                     offsetof(sockaddr_un, sun_path) + 9));
  (void)::listen(listener, 1);
  out.control("AF_UNIX works inside",
              !bound.failed() && !connect_unix("own-name", true, SOCK_STREAM).failed(),
              text_of(bound));
  ::close(listener);
  std::array<int, 2> pair{};
  out.control("socketpair", ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0,
              name_of_error(errno));
  abstract_sockets(words, out);
}

void vsock(const Words&, Findings& out) {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    out.refused("socket AF_VSOCK", call(SYS_socket, 40, type | SOCK_CLOEXEC, 0), {EAFNOSUPPORT});
  }
}

// What the host made: a segment by key, a name in /dev/shm, a message queue.
void shared_objects(const Words& words, Findings& out) {
  if (words.has("key")) {
    out.refused("shmget", answer(::shmget(static_cast<key_t>(words.number("key", 0)), 0, 0)),
                {ENOENT, ENOSYS});
  }
  const std::string name = words.get("name");
  if (!name.empty())
    out.refused("/dev/shm/" + name, try_open("/dev/shm/" + name, O_RDONLY), {ENOENT});
  out.refused(
      "mq_open",
      call(SYS_mq_open, words.get("name", "none").c_str(), O_RDONLY | O_CLOEXEC, 0, nullptr),
      {ENOENT, ENOSYS});
}

void netlink_events(const Words&, Findings& out) {
  out.refused("netlink uevents",
              call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT),
              {EPROTONOSUPPORT});
  struct if_nameindex* const all = ::if_nameindex();
  std::string others;
  for (auto* each = all; each != nullptr && each->if_index != 0; ++each) {
    if (std::string_view{each->if_name} != "lo") others += std::string{each->if_name} + " ";
  }
  if (all != nullptr) ::if_freenameindex(all);
  out.holds("only a loopback", others.empty(), others.empty() ? "lo" : others);
}

void keyrings(const Words&, Findings& out) {
  constexpr long kSearch = 10;
  constexpr long kUserKeyring = -4;
  out.refused("search the user's keyring",
              call(SYS_keyctl, kSearch, kUserKeyring, "user", "canary", 0), {EPERM});
  out.refused("request a key", call(SYS_request_key, "user", "canary", nullptr, 0), {EPERM});
  const bool shown = read_text("/proc/keys", 64).empty();
  out.holds("/proc/keys says nothing", shown, "its content");
}

// What may be written is memory of our own, our own entries of /proc, and the directory we were
// given; whoever could write elsewhere could meet others there.
bool may_be_writable(const Mount& mount) {
  const std::string here = current_directory();
  const char* const home = std::getenv("HOME");
  for (const std::string_view own : {"/tmp", "/var/tmp", "/dev/shm"}) {
    if (mount.point == own) return mount.type == "tmpfs";
  }
  if (home != nullptr && mount.point == home) return mount.type == "tmpfs";
  if (mount.point == "/proc") return mount.type == "proc";
  if (mount.point == "/dev/pts") return mount.type == "devpts";
  return mount.point == here || mount.point.starts_with(here + "/");
}

void shared_directories(const Words&, Findings& out) {
  const std::vector<Mount> all = mounts();
  out.control("mountinfo can be read", !all.empty(), "it is empty");
  for (const Mount& mount : all) {
    if (!mount.writable()) continue;
    out.holds(mount.point + " may be written", may_be_writable(mount), mount.type);
  }
}

constexpr Row kRows[] = {
    {"C222", abstract_sockets}, {"C223", pathname_sockets},
    {"C224", local_sockets},    {"C225", vsock},
    {"C226", shared_objects},   {"C228", netlink_events},
    {"C229", keyrings},         {"C230", shared_directories},
};

}  // namespace

std::span<const Row> ipc_rows() { return kRows; }

}  // namespace cordon::probe
