// SPDX-License-Identifier: Apache-2.0
// Group H: descriptors that came along.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

void inherited(const Words&, Findings& out) {
  for (const OpenedAtStart& each : opened_at_start()) {
    if (each.fd > 2) out.holds("descriptor " + std::to_string(each.fd), false, each.link);
  }
  out.holds("open at the start", true, std::to_string(opened_at_start().size()));
}

// A pipe or a terminal of our own, or the null device; nothing that leads to the host.
void kinds(const Words& words, Findings& out) {
  for (const OpenedAtStart& each : opened_at_start()) {
    struct stat about{};
    if (::fstat(each.fd, &about) != 0) continue;
    const bool own_device =
        S_ISCHR(about.st_mode) &&
        (about.st_rdev == makedev(1, 3) || std::to_string(about.st_dev) != words.get("pts-device"));
    const bool fine = S_ISFIFO(about.st_mode) || own_device;
    const std::string name = "descriptor " + std::to_string(each.fd);
    out.holds(name, fine, each.link);
    out.refused(name + " leads nowhere", answer(::openat(each.fd, "..", O_RDONLY | O_CLOEXEC)),
                {ENOTDIR, EACCES});
  }
}

void foreign_kinds(const Words&, Findings& out) {
  for (const OpenedAtStart& each : opened_at_start()) {
    const bool object = each.link.starts_with("anon_inode:") || each.link.starts_with("/memfd:") ||
                        each.link.starts_with("pidfd:") || each.link.starts_with("socket:");
    out.holds("descriptor " + std::to_string(each.fd), !object, each.link);
  }
}

// Sends descriptors over each socket that we hold or can find; there is to be none that a
// supervisor reads.
void send_descriptors(const Words&, Findings& out) {
  std::size_t sent = 0;
  for (const OpenedAtStart& each : opened_at_start()) {
    if (!S_ISSOCK(each.mode)) continue;
    char byte = 'x';
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{.msg_iov = &part,
                   .msg_iovlen = 1,
                   .msg_control = control.data(),
                   .msg_controllen = control.size()};
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &each.fd, sizeof(int));
    if (::sendmsg(each.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) ++sent;
  }
  out.holds("sockets that take a descriptor", sent == 0, std::to_string(sent));
}

// Changes the open file description of our standard streams, then says more than a pipe holds.
void shared_description(const Words& words, Findings& out) {
  (void)std::signal(SIGIO, SIG_IGN);
  for (int fd = 0; fd < 3; ++fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    (void)::fcntl(fd, F_SETFL, flags | O_NONBLOCK | O_APPEND | O_ASYNC);
    (void)::fcntl(fd, F_SETOWN, ::getpid());
    (void)::lseek(fd, 1 << 20, SEEK_SET);
  }
  const long lines = words.number("lines", 0);
  const std::string line(99, '#');
  for (long i = 0; i < lines; ++i) {
    const std::string whole = line + "\n";
    for (std::size_t done = 0; done < whole.size();) {
      const ssize_t wrote = ::write(STDERR_FILENO, whole.data() + done, whole.size() - done);
      if (wrote < 0) ::usleep(1000);
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
  }
  // Our own line at the end must go out whole.
  (void)::fcntl(STDOUT_FILENO, F_SETFL, ::fcntl(STDOUT_FILENO, F_GETFL) & ~O_NONBLOCK);
  out.holds("streams changed", true, std::to_string(lines) + " lines");
}

void sealed_program(const Words&, Findings& out) {
  const auto refused = {EACCES, EPERM, ENOENT, ETXTBSY, EROFS, ESRCH};
  out.refused("write the first process's program", try_open("/proc/1/exe", O_RDWR), refused);
  for (const std::string& fd : names_in("/proc/1/fd")) {
    out.refused("write /proc/1/fd/" + fd, try_open("/proc/1/fd/" + fd, O_RDWR | O_NONBLOCK),
                refused);
  }
}

constexpr Row kRows[] = {
    {"C107", inherited},          {"C108", kinds},         {"C110", send_descriptors},
    {"C111", shared_description}, {"C112", foreign_kinds}, {"C113", sealed_program},
};

}  // namespace

std::span<const Row> descriptor_rows() { return kRows; }

}  // namespace cordon::probe
