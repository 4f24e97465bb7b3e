// SPDX-License-Identifier: Apache-2.0
// Group R and payloads: what is left behind, and what only has to run or to wait while the host
// looks.
#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

bool put(const std::string& path, std::string_view text) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    (void)::mkdir(path.substr(0, at).c_str(), 0700);
  }
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0700);
  if (fd < 0) return false;
  const bool wrote = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return wrote;
}

// Leaves a file: where it exists, a payload has run.
void payload(const Words& words, Findings& out) {
  const bool wrote = put(words.get("marker", "ran"), "ran\n");
  out.holds("payload", true, wrote ? "ran" : "ran, without a place for its mark");
}

// Says that it is there and waits for the host to look.
void wait_here(const Words& words, Findings& out) {
  (void)!::write(STDERR_FILENO, "ready\n", 6);
  ::sleep(static_cast<unsigned>(words.number("hold", 10)));
  out.holds("waited", true, "to the end");
}

constexpr const char* kPlaces[] = {"/tmp",  "/var/tmp", "/dev/shm", "/run",    "/root",
                                   "/home", "/mnt",     "/srv",     "/var/lib"};

// `--leave`: puts the mark wherever it can. Without: looks for the mark of an earlier sandbox.
void next_tenant(const Words& words, Findings& out) {
  const std::string mark = words.mirrored("mirrored");
  if (words.has("leave")) {
    std::size_t left = 0;
    for (const char* const place : kPlaces)
      left += put(std::string{place} + "/left-" + mark, mark) ? 1 : 0;
    out.holds("marks left", true, std::to_string(left));
    out.control("at least one was left", left > 0, "none");
    return;
  }
  std::string found;
  walk("/", [&](const std::string& path, unsigned char type) {
    const bool elsewhere =
        type == DT_REG && !path.starts_with("/usr/") && !path.starts_with("/opt/");
    if (path.find(mark) != std::string::npos ||
        (elsewhere && read_text(path, 4096).find(mark) != std::string::npos))
      found = path;
    return found.empty();
  });
  out.holds("no mark of an earlier sandbox", found.empty(), found.empty() ? "0 hits" : found);
}

// Every place that runs something later. `--home H` is the caller's; the host compares the trees
// before and after.
void come_back(const Words& words, Findings& out) {
  const std::string home = words.get("home", "/root");
  std::vector<std::string> left;
  for (const std::string& path :
       {std::string{"/etc/cron.d/probe"}, std::string{"/var/spool/cron/crontabs/root"},
        std::string{"/etc/ld.so.preload"}, std::string{"/etc/profile.d/probe.sh"},
        std::string{"/etc/systemd/system/probe.service"}, home + "/.bashrc",
        home + "/.ssh/authorized_keys", home + "/.config/systemd/user/probe.service",
        home + "/.config/autostart/probe.desktop"}) {
    const std::vector<Mount> all = mounts();
    const Mount* const mount = mount_of(all, path);
    const bool memory = mount != nullptr && mount->type == "tmpfs";
    if (put(path, "#\n") && !memory) left.push_back(path);
  }
  out.holds("nothing outlives the sandbox", left.empty(), left.empty() ? "0 files" : left.front());
}

// A tree that is hard to remove: deep, with links to the outside, and everything stopped.
void hard_to_remove(const Words& words, Findings& out) {
  const std::string top = words.get("place", "/tmp") + "/deep";
  (void)::mkdir(top.c_str(), 0700);
  for (const std::string& canary : words.list("canary")) {
    (void)::symlink(canary.substr(0, canary.rfind('/')).c_str(), (top + "/out").c_str());
  }
  long depth = 0;
  const bool here = ::chdir(top.c_str()) == 0;
  for (const long most = words.number("depth", 2000); here && depth < most; ++depth) {
    if (::mkdir("d", 0700) != 0 || ::chdir("d") != 0) break;
  }
  for (int i = 0; i < 2000; ++i) (void)try_open("f" + std::to_string(i), O_CREAT | O_WRONLY);
  out.holds("depth", true, std::to_string(depth));
  for (int i = 0; i < 5; ++i) {
    if (::fork() == 0) {
      (void)::raise(SIGSTOP);
      ::_exit(0);
    }
  }
}

void speculation(const Words&, Findings& out) {
  const std::string status = read_text("/proc/self/status");
  const bool forced =
      status.find("Speculation_Store_Bypass:\tthread force mitigated") != std::string::npos;
  out.holds("store bypass", forced, "not force mitigated");
}

constexpr Row kRows[] = {
    {"C034", wait_here}, {"C035", wait_here},   {"C049", payload},   {"C070", wait_here},
    {"C076", payload},   {"C109", wait_here},   {"C117", wait_here}, {"C234", speculation},
    {"C246", payload},   {"C247", next_tenant}, {"C248", come_back}, {"C249", hard_to_remove},
    {"C286", payload},   {"C291", payload},
};

}  // namespace

std::span<const Row> persistence_rows() { return kRows; }

}  // namespace cordon::probe
