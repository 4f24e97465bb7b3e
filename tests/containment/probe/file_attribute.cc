// SPDX-License-Identifier: Apache-2.0
// Group A, attributes: handles, nodes, set-id bits, leases, dumps.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

// NULL and -1: the kernel alone would say EFAULT or EBADF.
void file_handles(const Words&, Findings& out) {
  out.refused("open_by_handle_at", call(SYS_open_by_handle_at, -1, nullptr, 0), {EPERM});
  out.refused("name_to_handle_at", call(SYS_name_to_handle_at, AT_FDCWD, "/", nullptr, nullptr, 0),
              {EPERM});
  struct {
    unsigned bytes = 64;
    int type = 0;
    std::array<unsigned char, 64> body{};
  } handle;
  int mount = 0;
  const Answer named = call(SYS_name_to_handle_at, AT_FDCWD, "/tmp", &handle, &mount, 0);
  const int dir = ::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  out.attempt("open a directory by its handle",
              named.failed() ? named : call(SYS_open_by_handle_at, dir, &handle, O_RDONLY),
              {EPERM});
  if (dir >= 0) ::close(dir);
}

void device_nodes(const Words&, Findings& out) {
  const auto node = [](const char* name, mode_t type, dev_t device) {
    const Answer got = answer(::mknod(name, type | 0600U, device));
    if (!got.failed()) ::unlink(name);
    return got;
  };
  out.refused("whiteout", node("whiteout", S_IFCHR, makedev(0, 0)), {EPERM});
  out.refused("character device", node("null", S_IFCHR, makedev(1, 3)), {EPERM});
  out.refused("block device", node("disk", S_IFBLK, makedev(8, 0)), {EPERM});
  const auto refused = {EPERM, EACCES};
  out.attempt("make a whiteout", node("whiteout", S_IFCHR, makedev(0, 0)), refused);
  out.attempt("make a character device", node("null", S_IFCHR, makedev(1, 3)), refused);
  out.attempt("make a block device", node("disk", S_IFBLK, makedev(8, 0)), refused);
  const Answer fifo = node("fifo", S_IFIFO, 0);
  const Answer sock = node("sock", S_IFSOCK, 0);
  out.control("FIFO", !fifo.failed(), text_of(fifo));
  out.control("socket node", !sock.failed(), text_of(sock));
}

void privileged_attributes(const Words&, Findings& out) {
  (void)try_open("attributes", O_CREAT | O_WRONLY);
  // A file capability of revision 2, without any capability in it, and an access list with one
  // named user more than the mode has.
  const std::array<unsigned, 5> capability = {0x02000000, 0, 0, 0, 0};
  const std::array<unsigned char, 44> access_list = {
      2, 0, 0,    0,    1,    0,    6,    0, 0xff, 0xff, 0xff, 0xff, 2,    0,    4,
      0, 1, 0,    0,    0,    4,    0,    0, 0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,
      4, 0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};
  const auto set = [](const char* name, const void* value, std::size_t size) {
    return answer(::setxattr("attributes", name, value, size, 0));
  };
  const auto refused = {EPERM, EOPNOTSUPP, EACCES, ENOSYS, EINVAL};
  out.refused("security.capability", set("security.capability", capability.data(), 20), refused);
  out.refused("trusted.overlay.opaque", set("trusted.overlay.opaque", "y", 1), refused);
  out.refused("user.overlay.opaque", set("user.overlay.opaque", "y", 1), refused);
  out.refused("access list", set("system.posix_acl_access", access_list.data(), access_list.size()),
              refused);
  (void)::unlink("attributes");
}

constexpr long kFchmodat2 = 452;

// Every call that can set the bits. What was made stays: the host looks at its modes.
void set_id_bits(const Words&, Findings& out) {
  (void)::umask(0);
  (void)try_open("plain-file", O_CREAT | O_WRONLY, 0644);
  const int fd = ::open("plain-file", O_RDONLY | O_CLOEXEC);
  for (const mode_t bits : {04755U, 02755U}) {
    const std::string mode = bits == 04755U ? "4755" : "2755";
    out.refused("chmod " + mode, call(SYS_chmod, "plain-file", bits), {EPERM});
    out.refused("fchmod " + mode, call(SYS_fchmod, fd, bits), {EPERM});
    out.refused("fchmodat " + mode, call(SYS_fchmodat, AT_FDCWD, "plain-file", bits), {EPERM});
    out.refused("fchmodat2 " + mode, call(kFchmodat2, AT_FDCWD, "plain-file", bits, 0),
                {EPERM, ENOSYS});
    out.refused("open " + mode,
                call(SYS_open, ("open-" + mode).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, bits),
                {EPERM});
    out.refused("creat " + mode, call(SYS_creat, ("creat-" + mode).c_str(), bits), {EPERM});
    out.refused("openat " + mode,
                call(SYS_openat, AT_FDCWD, ("openat-" + mode).c_str(),
                     O_CREAT | O_WRONLY | O_CLOEXEC, bits),
                {EPERM});
    out.refused("mknod " + mode, call(SYS_mknod, ("mknod-" + mode).c_str(), S_IFREG | bits, 0),
                {EPERM});
    out.refused("mknodat " + mode,
                call(SYS_mknodat, AT_FDCWD, ("mknodat-" + mode).c_str(), S_IFREG | bits, 0),
                {EPERM});
    const std::array<unsigned long, 3> how = {O_CREAT | O_WRONLY | O_CLOEXEC, bits, 0};
    out.refused("openat2 " + mode,
                call(SYS_openat2, AT_FDCWD, ("openat2-" + mode).c_str(), how.data(), sizeof how),
                {EPERM, ENOSYS});
  }
  // Linux takes no set-user-id from mkdir, but the set-group-id bit it does.
  out.refused("mkdir 2755", call(SYS_mkdir, "directory", 02755), {EPERM});
  out.refused("mkdirat 2755", call(SYS_mkdirat, AT_FDCWD, "directory-at", 02755), {EPERM});
  const Answer plain = call(SYS_chmod, "plain-file", 0755);
  out.control("chmod 755", !plain.failed(), text_of(plain));
  ::close(fd);
}

// Takes what can be taken and holds it; the host measures that nothing waits for it.
void leases(const Words& words, Findings& out) {
  const int own = ::open("leased", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const Answer lease = answer(::fcntl(own, F_SETLEASE, F_WRLCK));
  const int shared = ::open(words.get("source", "/usr/bin/env").c_str(), O_RDONLY | O_CLOEXEC);
  const Answer lock = answer(shared >= 0 ? ::flock(shared, LOCK_EX | LOCK_NB) : -1);
  out.holds("lease", true, text_of(lease));
  out.holds("lock", true, text_of(lock));
  ::sleep(static_cast<unsigned>(words.number("hold", 0)));
}

void core_dump(const Words&, Findings& out) {
  rlimit core{};
  (void)::getrlimit(RLIMIT_CORE, &core);
  // A hard limit of 1 also stops the kernel from starting a handler at the end of a pipe.
  out.holds("RLIMIT_CORE", core.rlim_max <= 1, std::to_string(core.rlim_max));
  const pid_t child = ::fork();
  if (child == 0) {
    (void)std::signal(SIGSEGV, SIG_DFL);
    (void)::raise(SIGSEGV);
    ::_exit(0);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  out.control("the child died of it", WIFSIGNALED(status), "it lived");
  out.holds("dumped", !WCOREDUMP(status), WCOREDUMP(status) ? "yes" : "no");
}

constexpr Row kRows[] = {
    {"C013", file_handles}, {"C014", device_nodes}, {"C015", privileged_attributes},
    {"C016", set_id_bits},  {"C017", leases},       {"C023", core_dump},
};

}  // namespace

std::span<const Row> file_attribute_rows() { return kRows; }

}  // namespace cordon::probe
