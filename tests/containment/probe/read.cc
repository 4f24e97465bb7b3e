// SPDX-License-Identifier: Apache-2.0
// Group A, reading: what of the host can be seen.
#include <array>
#include <cerrno>
#include <dirent.h>
#include <set>
#include <sstream>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr std::size_t kSmallFile = 4096;

// The canaries are absent, not merely closed, and no name or small file holds their mark.
void host_secret(const Words& words, Findings& out) {
  for (const std::string& path : words.list("canary")) {
    out.refused("open " + path, try_open(path, O_RDONLY), {ENOENT});
  }
  for (const char* const path : {"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.ssh"}) {
    out.refused(std::string{"open "} + path, try_open(path, O_RDONLY), {ENOENT});
  }
  const std::string mark = words.mirrored("mirrored");
  if (mark.empty()) return;
  std::string hit;
  walk("/", [&](const std::string& path, unsigned char type) {
    const bool named = path.find(mark) != std::string::npos;
    const bool small = type == DT_REG && !path.starts_with("/usr/") && !path.starts_with("/opt/");
    if (named || (small && read_text(path, kSmallFile).find(mark) != std::string::npos)) hit = path;
    return hit.empty();
  });
  out.holds("no file bears the mark", hit.empty(), hit.empty() ? "0 hits" : hit);
}

// Spellings of one path: each step written in turn in a way that means the same.
std::vector<std::string> spellings(const std::string& path, std::size_t wanted) {
  constexpr std::array<std::string_view, 5> kSteps = {"/", "//", "/./", "/.//./", "///"};
  std::vector<std::string> found;
  for (std::size_t seed = 0; found.size() < wanted; ++seed) {
    std::string spelled;
    for (std::size_t up = seed % 23; up > 0; --up) spelled += up % 2 == 0 ? "/.." : "/../.";
    std::istringstream parts{path.substr(1)};
    std::size_t turn = seed / 23;
    for (std::string part; std::getline(parts, part, '/');) {
      spelled += kSteps[turn % kSteps.size()];
      // Into a name and back out, every so often.
      if (seed % 3 == 0) spelled += "../";
      if (seed % 3 == 0 && spelled.find(part) != std::string::npos) spelled += "./";
      spelled += part;
      turn /= kSteps.size();
    }
    if (seed % 3 == 0) spelled = "/" + spelled.substr(spelled.find_first_not_of('/'));
    found.push_back(spelled);
    if (seed > 4 * wanted) break;
  }
  return found;
}

Answer try_open_at(int directory, const std::string& path) {
  const int fd = ::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC);
  const Answer got = answer(fd);
  if (fd >= 0) ::close(fd);
  return got;
}

void traversal(const Words& words, Findings& out) {
  const std::vector<std::string> canaries = words.list("canary");
  if (canaries.empty()) return out.skip("no canary given");
  const int here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::string seen;
  std::size_t tried = 0;
  for (const std::string& canary : canaries) {
    const std::vector<std::string> all = spellings(canary, 1000 / canaries.size() + 1);
    for (const std::string& spelled : all) {
      const std::string relative = "../../../../../../../../../.." + spelled;
      for (const auto& [from, path] : {std::pair{AT_FDCWD, spelled}, std::pair{here, relative}}) {
        ++tried;
        const Answer got = try_open_at(from, path);
        const bool absent = got.failed() && (got.error == ENOENT || got.error == ENOTDIR);
        if (!absent && seen.empty()) seen = joined({path, ": ", text_of(got)});
      }
    }
  }
  ::close(here);
  out.holds("every spelling is absent", seen.empty(),
            seen.empty() ? std::to_string(tried) + " spellings" : seen);
}

void magic_links(const Words& words, Findings& out) {
  std::vector<std::string> doors;
  for (const std::string& pid : pids()) {
    const std::string base = "/proc/" + pid;
    doors.insert(doors.end(), {base + "/root", base + "/cwd"});
    for (const std::string& fd : names_in(base + "/fd"))
      doors.push_back(joined({base, "/fd/", fd}));
  }
  out.control("there are doors to try", !doors.empty(), "/proc shows no process");
  for (const std::string& canary : words.list("canary")) {
    std::string seen;
    for (const std::string& door : doors) {
      for (const char* const up : {"", "/../../../../../../.."}) {
        const Answer got = try_open(joined({door, up, canary}), O_RDONLY);
        const bool away = got.error == ENOENT || got.error == EACCES || got.error == ENOTDIR;
        if (!(got.failed() && away)) seen = door + ": " + text_of(got);
      }
    }
    out.holds(canary + " through magic links", seen.empty(),
              seen.empty() ? std::to_string(doors.size()) + " doors" : seen);
  }
}

// `--hidden NAME` lies in the workspace and is hidden: no spelling of it shows the mark.
void aliases(const Words& words, Findings& out) {
  const std::string name = words.get("hidden", "hidden.pem");
  const std::string mark = words.mirrored("mirrored");
  const std::string whole = current_directory() + "/" + name;
  for (const Mount& mount : mounts()) {
    if (mount.point != whole) continue;
    out.holds("what hides it is read-only", !mount.writable(), mount.options);
  }
  (void)::mkdir("side", 0700);
  (void)::symlink(("../" + name).c_str(), "side/by-link");
  (void)::link(name.c_str(), "by-hard-link");
  const std::vector<std::string> all = {name,
                                        "./" + name,
                                        "side/../" + name,
                                        ".//" + name,
                                        whole,
                                        "/proc/self/cwd/" + name,
                                        "side/by-link",
                                        "by-hard-link",
                                        name + "/",
                                        "/proc/self/root" + whole};
  for (const std::string& path : all) {
    const bool shown = !mark.empty() && read_text(path).find(mark) != std::string::npos;
    out.holds("read " + path, !shown, shown ? "its content" : "not its content");
  }
  for (const char* const made : {"side/by-link", "by-hard-link"}) (void)::unlink(made);
  (void)::rmdir("side");
}

// Reading a lower layer leaves no trace that a neighbour could read.
void access_time(const Words&, Findings& out) {
  const char* const path = "/usr/bin/env";
  struct stat before{};
  struct stat after{};
  if (::stat(path, &before) != 0) return out.skip("no /usr/bin/env here");
  (void)read_text(path);
  (void)::stat(path, &after);
  const bool same = before.st_atim.tv_sec == after.st_atim.tv_sec &&
                    before.st_atim.tv_nsec == after.st_atim.tv_nsec;
  out.holds("a read moves no access time", same, same ? "unmoved" : "moved");
  const std::vector<Mount> all = mounts();
  const Mount* const mount = mount_of(all, path);
  const bool frozen = mount != nullptr && (!mount->writable() || mount->has("noatime"));
  out.holds("the layer is read-only or noatime", frozen, mount != nullptr ? mount->options : "?");
}

// `--inodes FILE`: lines "device inode" of files that the host runs.
void shared_inodes(const Words& words, Findings& out) {
  std::set<std::pair<unsigned long, unsigned long>> of_host;
  std::istringstream lines{read_text(words.get("inodes"), 64 << 20)};
  for (unsigned long device = 0, inode = 0; lines >> device >> inode;)
    of_host.emplace(device, inode);
  if (of_host.empty()) return out.skip("no list of the host's inodes");
  std::string shared;
  std::size_t seen = 0;
  for (const char* const top : {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"}) {
    walk(top, [&](const std::string& path, unsigned char type) {
      struct stat about{};
      if (type != DT_REG || ::lstat(path.c_str(), &about) != 0) return true;
      ++seen;
      if (of_host.contains({about.st_dev, about.st_ino})) shared = path;
      return shared.empty();
    });
  }
  out.holds("no file is also one of the host's", shared.empty(),
            shared.empty() ? std::to_string(seen) + " files compared" : shared);
}

void overlay_internals(const Words& words, Findings& out) {
  out.control("mountinfo can be read", !mounts().empty(), "it is empty");
  std::vector<std::string> inner = words.list("inner");
  for (const Mount& mount : mounts()) {
    std::istringstream options{mount.super};
    for (std::string option; std::getline(options, option, ',');) {
      const std::size_t equals = option.find("dir=");
      if (equals == std::string::npos) continue;
      std::istringstream paths{option.substr(equals + 4)};
      for (std::string path; std::getline(paths, path, ':');) {
        // What the sandbox has at that path anyway (its own /usr) is no way into a layer.
        if (option.starts_with("lower") && mount_of(mounts(), path) != nullptr) continue;
        if (path.starts_with('/')) inner.push_back(path);
      }
    }
  }
  for (const std::string& path : inner) {
    out.refused("open " + path, try_open(path, O_RDONLY | O_DIRECTORY), {ENOENT, EACCES, ENOTDIR});
  }
  out.holds("layers looked for", true, std::to_string(inner.size()));
}

bool all_zero(int fd, off_t bytes) {
  std::array<char, 65536> part{};
  for (off_t at = 0; at < bytes;) {
    const ssize_t got = ::pread(fd, part.data(), part.size(), at);
    if (got <= 0) return got == 0;
    for (ssize_t i = 0; i < got; ++i) {
      if (part[static_cast<std::size_t>(i)] != 0) return false;
    }
    at += got;
  }
  return true;
}

// Every way to get blocks that nobody wrote: all of them read as zeros.
void stale_blocks(const Words&, Findings& out) {
  constexpr off_t kBytes = 8 << 20;
  constexpr int kPunchHole = 0x03;  // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
  for (const std::string& place :
       {std::string{"."}, std::string{"/tmp"}, std::string{"/dev/shm"}}) {
    const std::string path = place + "/.stale";
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) continue;
    bool zero = ::ftruncate(fd, kBytes) == 0 && all_zero(fd, kBytes);
    if (::fallocate(fd, 0, 0, kBytes) == 0) zero = zero && all_zero(fd, kBytes);
    if (::pwrite(fd, "mark", 4, 4096) == 4 && ::fallocate(fd, kPunchHole, 0, 65536) == 0) {
      zero = zero && all_zero(fd, kBytes);
    }
    out.holds("blocks in " + place, zero, zero ? "all zeros" : "bytes of others");
    ::close(fd);
    ::unlink(path.c_str());
  }
}

constexpr Row kRows[] = {
    {"C001", host_secret},       {"C003", traversal},    {"C004", magic_links},
    {"C011", aliases},           {"C018", access_time},  {"C019", shared_inodes},
    {"C021", overlay_internals}, {"C022", stale_blocks},
};

}  // namespace

std::span<const Row> read_rows() { return kRows; }

}  // namespace cordon::probe
