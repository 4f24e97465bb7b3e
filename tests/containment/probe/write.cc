// SPDX-License-Identifier: Apache-2.0
// Group A, writing: what of the host can be changed.
#include <algorithm>
#include <cerrno>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

// Writable places of a sandbox's own: memory that dies with it, or the directory it was given.
bool is_own(const std::vector<Mount>& all, const std::string& path) {
  const Mount* const mount = mount_of(all, path);
  const std::string here = current_directory();
  const bool memory = mount != nullptr && (mount->type == "tmpfs" || mount->type == "ramfs" ||
                                           mount->type == "devpts" || mount->type == "mqueue");
  return memory || path == here || path.starts_with(here + "/");
}

void write_outside(const Words& words, Findings& out) {
  std::vector<std::string> places = {"/",     "/usr",  "/usr/bin", "/usr/lib", "/etc",
                                     "/bin",  "/sbin", "/lib",     "/opt",     "/root",
                                     "/home", "/var",  "/srv",     "/boot",    "/usr/local/bin"};
  const std::vector<Mount> all = mounts();
  for (const Mount& mount : all) places.push_back(mount.point);
  std::size_t tried = 0;
  for (const std::string& place : places) {
    if (is_own(all, place)) continue;
    const std::string path = place + "/.written-by-" + words.get("uuid", "probe");
    ++tried;
    out.refused("create in " + place, try_create(path), {EROFS, EACCES, EPERM, ENOENT, ENOTDIR});
  }
  out.control("there were places to try", tried > 0, "none");
  const std::string own = current_directory() + "/.own";
  out.control("the workspace is writable", words.has("read-only") || !try_create(own).failed(),
              own);
}

// `--source FILE` lies outside of the workspace, readable.
void hard_link(const Words& words, Findings& out) {
  const std::string source = words.get("source", "/usr/bin/env");
  const auto refused = {EXDEV, EPERM, EROFS, EACCES, ENOENT, ENOSYS};
  for (const std::string& from : {source, std::string{"/usr/bin/env"}}) {
    out.refused("link " + from, answer(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, "stolen", 0)),
                refused);
    (void)::unlink("stolen");
    const int fd = ::open(from.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    const std::string by_fd = "/proc/self/fd/" + std::to_string(fd);
    out.refused("link by descriptor " + from,
                answer(::linkat(fd, "", AT_FDCWD, "stolen", AT_EMPTY_PATH)), refused);
    (void)::unlink("stolen");
    out.refused("link by /proc " + from,
                answer(::linkat(AT_FDCWD, by_fd.c_str(), AT_FDCWD, "stolen", AT_SYMLINK_FOLLOW)),
                refused);
    (void)::unlink("stolen");
    ::close(fd);
  }
}

// `.git/hooks` of the workspace is protected: neither it nor what leads to it can be moved away.
void move_ancestor(const Words&, Findings& out) {
  out.control(".git/hooks is there", try_open(".git/hooks", O_RDONLY | O_DIRECTORY).value >= 0,
              "absent");
  const auto pinned = {EBUSY, EROFS, EACCES, EPERM, EXDEV};
  out.refused("write .git/hooks/pre-commit", try_open(".git/hooks/pre-commit", O_CREAT | O_WRONLY),
              pinned);
  const Answer hooks = answer(::rename(".git/hooks", ".git/hooks2"));
  out.refused("rename .git/hooks", hooks, pinned);
  if (!hooks.failed()) (void)::rename(".git/hooks2", ".git/hooks");
  const Answer git = answer(::rename(".git", ".git2"));
  out.refused("rename .git", git, pinned);
  if (!git.failed()) (void)::rename(".git2", ".git");
  const Answer swap = call(SYS_renameat2, AT_FDCWD, ".git", AT_FDCWD, "other", 2 /* exchange */);
  out.refused("exchange .git", swap, {EBUSY, EROFS, EACCES, EPERM, EXDEV, ENOENT});
}

constexpr const char* kProtected[] = {
    ".git/config", ".git/hooks/pre-commit", ".bashrc", ".envrc", ".vscode/tasks.json",
    ".mcp.json",   ".claude/settings.json"};

// Names that did not exist at the start and are protected.
void create_protected(const Words&, Findings& out) {
  for (const char* const name : kProtected) {
    const std::string path = name;
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      (void)::mkdir(path.substr(0, at).c_str(), 0700);
    }
    out.refused("create " + path, try_open(path, O_CREAT | O_WRONLY),
                {EROFS, EACCES, EPERM, EBUSY, ENOENT, ENOTDIR, EISDIR});
    out.refused("rename onto " + path,
                [&] {
                  (void)try_open("plain", O_CREAT | O_WRONLY);
                  return answer(::rename("plain", path.c_str()));
                }(),
                {EROFS, EACCES, EPERM, EBUSY, ENOENT, ENOTDIR, EISDIR, EXDEV});
  }
  (void)::unlink("plain");
}

// Makes what the review must flag; the driver reads what `cordon diff` says of it.
void hidden_hooks(const Words&, Findings& out) {
  const auto put = [](const std::string& path, std::string_view text) {
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      (void)::mkdir(path.substr(0, at).c_str(), 0700);
    }
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
    const bool wrote = fd >= 0 && ::write(fd, text.data(), text.size()) >= 0;
    if (fd >= 0) ::close(fd);
    return wrote;
  };
  std::size_t made = 0;
  made += put("worktree/.git", "gitdir: ../store\n") ? 1 : 0;
  made += put("store/hooks/post-checkout", "#!/bin/sh\n") ? 1 : 0;
  made += put("nested/.git/hooks/pre-commit", "#!/bin/sh\n") ? 1 : 0;
  made += put("bare/HEAD", "ref: refs/heads/main\n") ? 1 : 0;
  made += put("bare/config", "[core]\n\tfsmonitor = ./run\n") ? 1 : 0;
  out.holds("hooks made", true, std::to_string(made));
}

// `--source FILE` is granted for reading only.
void reopen(const Words& words, Findings& out) {
  const std::string source = words.get("source", "/usr/bin/env");
  const int fd = ::open(source.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out.skip(source + ": " + name_of_error(errno));
  const std::string by_fd = "/proc/self/fd/" + std::to_string(fd);
  const auto refused = {EROFS, EACCES, EPERM};
  out.refused("reopen for writing", try_open(by_fd, O_RDWR), refused);
  out.refused("reopen to truncate", try_open(by_fd, O_WRONLY | O_APPEND), refused);
  ::close(fd);
  for (const char* const place : {"/usr", "/etc"}) {
    out.refused(std::string{"nameless file in "} + place, try_open(place, O_TMPFILE | O_RDWR),
                {EROFS, EACCES, EPERM, EOPNOTSUPP, ENOENT});
  }
}

void shared_mapping(const Words& words, Findings& out) {
  const std::string source = words.get("source", "/usr/bin/env");
  const int fd = ::open(source.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out.skip(source + ": " + name_of_error(errno));
  const auto map = [](int of) {
    void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, of, 0);
    const Answer got{at == MAP_FAILED ? -1L : 0L, at == MAP_FAILED ? errno : 0};
    if (at != MAP_FAILED) ::munmap(at, 4096);
    return got;
  };
  out.refused("shared mapping of a read-only descriptor", map(fd), {EACCES, EPERM});
  ::close(fd);
  const int both = ::open(source.c_str(), O_RDWR | O_CLOEXEC);
  if (both < 0) return out.refused("open for writing", answer(-1), {EROFS, EACCES, EPERM});
  out.refused("shared mapping of a writable descriptor", map(both), {EACCES, EPERM});
  ::close(both);
}

void crafted_image(const Words&, Findings& out) {
  out.control("an image can be made", !try_open("image", O_CREAT | O_RDWR).failed(), "not here");
  for (const char* const type : {"ext4", "xfs", "squashfs", "iso9660"}) {
    out.refused(std::string{"mount "} + type,
                answer(::mount("image", ".", type, MS_RDONLY, nullptr)), {EPERM});
  }
  for (const char* const path : {"/dev/loop-control", "/dev/loop0"}) {
    out.refused(std::string{"open "} + path, try_open(path, O_RDONLY), {ENOENT});
  }
  (void)::unlink("image");
}

// Calls that Landlock does not judge must be stopped by the mounts. Values are written back as they
// are.
// `--granted DIRECTORY` may be read, and belongs to the caller: neither owner nor mode forbids what
// is tried there. Each act is one that Landlock has a right for.
void acts_on_granted(const std::string& top, Findings& out) {
  const auto refused = {EROFS, EACCES, EPERM, EXDEV};
  const std::string file = top + "/file";
  const auto path = [&](const char* name) { return top + "/" + name; };
  out.control("the granted directory can be read", read_text(file) == "granted\n", file);
  out.refused("write", try_open(file, O_WRONLY), refused);
  out.refused("truncate", answer(::truncate(file.c_str(), 8)), refused);
  out.refused("make a file", answer(::mknod(path("new").c_str(), S_IFREG | 0600, 0)), refused);
  out.refused("make a directory", answer(::mkdir(path("dir").c_str(), 0700)), refused);
  out.refused("make a link", answer(::symlink("x", path("link").c_str())), refused);
  out.refused("make a FIFO", answer(::mkfifo(path("fifo").c_str(), 0600)), refused);
  out.refused("make a socket", answer(::mknod(path("socket").c_str(), S_IFSOCK | 0600, 0)),
              refused);
  out.refused("remove a directory", answer(::rmdir(path("empty").c_str())), refused);
  out.refused("remove a file", answer(::unlink(path("second").c_str())), refused);
  out.refused("move a file away", answer(::rename(file.c_str(), "moved")), refused);
}

// Programs of the host's /etc may be read and not executed. Only asked: nothing is started.
void execute_in_etc(Findings& out) {
  constexpr int kCheckOnly = 0x10000;  // AT_EXECVE_CHECK, from 6.14 on
  std::size_t asked = 0;
  walk("/etc", [&](const std::string& path, unsigned char) {
    struct stat about{};
    if (::lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return true;
    if ((about.st_mode & 0111) == 0 || ++asked > 8) return asked <= 8;
    const char* const none[] = {nullptr};
    const Answer got = call(SYS_execveat, AT_FDCWD, path.c_str(), none, none, kCheckOnly);
    out.refused("execute " + path, got, {EACCES, EPERM, EINVAL});
    return true;
  });
}

// `--stray DIRECTORY`: a tree that came in by mistake, and a device that may only be read: Landlock
// alone keeps them closed.
void acts_on_stray(const std::string& top, Findings& out) {
  constexpr unsigned long kEntropy = 0x80045200;
  out.refused("read a file that no rule names", try_open(top + "/readable", O_RDONLY), {EACCES});
  out.refused("list a directory that no rule names", try_open(top, O_RDONLY | O_DIRECTORY),
              {EACCES});
  int bits = 0;
  const int device = ::open("/dev/random", O_RDONLY | O_CLOEXEC);
  out.control("the device can be read", device >= 0, name_of_error(errno));
  out.refused("control a device that may only be read", answer(::ioctl(device, kEntropy, &bits)),
              {EACCES});
  if (device >= 0) ::close(device);
}

// A kernel that was not asked about moves between directories denies them all.
void moves_inside(Findings& out) {
  (void)::mkdir("from", 0700);
  (void)::mkdir("to", 0700);
  (void)try_open("from/file", O_CREAT | O_WRONLY);
  const Answer linked = answer(::link("from/file", "to/link"));
  out.control("link between directories of our own", !linked.failed(), text_of(linked));
  const Answer moved = answer(::rename("from/file", "to/file"));
  out.control("move between directories of our own", !moved.failed(), text_of(moved));
  for (const char* const each : {"from/file", "to/file", "to/link"}) (void)::unlink(each);
  (void)::rmdir("from");
  (void)::rmdir("to");
}

void landlock_gaps(const Words& words, Findings& out) {
  if (words.has("granted")) acts_on_granted(words.get("granted"), out);
  if (words.has("stray")) acts_on_stray(words.get("stray"), out);
  execute_in_etc(out);
  for (const std::string& path : words.list("canary")) {
    struct stat about{};
    const std::string parent = path.substr(0, path.rfind('/'));
    out.refused("stat " + path, answer(::stat(path.c_str(), &about)), {ENOENT});
    out.refused("access " + path, answer(::access(path.c_str(), F_OK)), {ENOENT});
    const std::string name = path.substr(parent.size() + 1);
    const std::vector<std::string> shown = names_in(parent);
    out.holds("list " + parent, std::find(shown.begin(), shown.end(), name) == shown.end(),
              "shows it");
    out.holds("chdir " + parent, ask_child([&] {
                                   const bool inside = ::chdir(parent.c_str()) == 0;
                                   return inside ? try_open(name, O_PATH) : answer(-1);
                                 }).failed(),
              "leads to it");
  }
  moves_inside(out);
  const char* const path = "/usr/bin/env";
  struct stat about{};
  if (::stat(path, &about) != 0) return;
  const timespec times[2] = {about.st_atim, about.st_mtim};
  const auto refused = {EROFS, EPERM, EACCES, EINVAL, EOVERFLOW};
  out.refused("chmod", answer(::chmod(path, about.st_mode & 07777)), refused);
  out.refused("chown", answer(::chown(path, about.st_uid, about.st_gid)), refused);
  out.refused("utimensat", answer(::utimensat(AT_FDCWD, path, times, 0)), refused);
  // The filter answers before the mount is asked.
  out.refused("setxattr", answer(::setxattr(path, "user.probe", "", 0, XATTR_REPLACE)),
              {EROFS, EPERM, EACCES, EOPNOTSUPP});
}

constexpr Row kRows[] = {
    {"C002", write_outside},    {"C007", hard_link},     {"C008", move_ancestor},
    {"C009", create_protected}, {"C010", hidden_hooks},  {"C012", reopen},
    {"C020", shared_mapping},   {"C024", crafted_image}, {"C025", landlock_gaps},
};

}  // namespace

std::span<const Row> write_rows() { return kRows; }

}  // namespace cordon::probe
