// SPDX-License-Identifier: Apache-2.0
// Group B, several commands in one sandbox: whether one that joins has the same fences, and whether
// it can be caught on its way in.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>
#include <sstream>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr const char* kFences[] = {"Uid",     "Gid",    "Groups",          "NoNewPrivs",
                                   "Seccomp", "CapInh", "CapPrm",          "CapEff",
                                   "CapBnd",  "CapAmb", "Umask",           "SigIgn",
                                   "SigBlk",  "NSpid",  "Seccomp_filters", "CoreDumping"};

std::string link_of(const std::string& path) {
  std::array<char, 256> link{};
  (void)!::readlink(path.c_str(), link.data(), link.size() - 1);
  return link.data();
}

// The one word by which the driver knows that a first command stands; then until our input ends.
void stand_until_input_ends() {
  (void)!::write(STDERR_FILENO, "stands\n", 7);
  for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) > 0;) {
  }
}

// Everything that the kernel tells of our own fences; the driver compares two of us.
void fences(const Words& words, Findings& out) {
  if (words.has("first")) stand_until_input_ends();
  std::istringstream lines{read_text("/proc/self/status")};
  for (std::string line; std::getline(lines, line);) {
    for (const char* const key : kFences) {
      // A pid is each one's own; how deep it is in namespaces is not.
      if (!line.starts_with(std::string{key} + ":")) continue;
      const bool pid = line.starts_with("NSpid");
      out.holds(key, true, pid ? std::to_string(std::count(line.begin(), line.end(), '\t')) : line);
    }
  }
  for (const std::string& name : names_in("/proc/self/ns")) {
    out.holds("namespace " + name, true, link_of("/proc/self/ns/" + name));
  }
  out.holds("groups", true, read_text("/proc/self/cgroup"));
  out.holds("mounts", true, read_text("/proc/self/mountinfo", 1 << 20));
  out.holds("limits", true, read_text("/proc/self/limits"));
  out.holds("oom_score_adj", true, read_text("/proc/self/oom_score_adj"));
  out.holds("root", true, link_of("/proc/self/root"));
  for (const OpenedAtStart& fd : opened_at_start()) {
    const bool pipe = fd.link.starts_with("pipe:");
    out.holds("descriptor " + std::to_string(fd.fd), true, pipe ? "pipe" : fd.link);
  }
  out.control("/proc tells of us", !read_text("/proc/self/status").empty(), "nothing");
}

std::string name_of_process(const std::string& pid) {
  std::string name = read_text("/proc/" + pid + "/comm");
  return name.substr(0, name.find('\n'));
}

// The kernel changes the name last: before that the process already has the memory of the program
// that it joined as, which is ours too, only that one's descriptors, and is as open as that one.
bool has_arrived(const std::string& pid, const std::string& joining) {
  if (name_of_process(pid) != joining) return true;  // or ended
  const std::string program = link_of("/proc/" + pid + "/exe");
  if (program == link_of("/proc/self/exe")) return true;
  return program.empty() && name_of_process(pid) != joining;  // ended between the two looks
}

// What a look at one process gave. It counts only if the process was still on its way afterwards.
struct Looks {
  long refused = 0;
  std::string opened;
};

void look_at(const std::string& pid, const std::string& joining, Looks& looks) {
  for (const char* const what : {"/mem", "/environ", "/maps", "/root/.", "/cwd/.", "/fd"}) {
    const Answer got = try_open("/proc/" + pid + what, O_RDONLY);
    if (has_arrived(pid, joining)) return;
    if (!got.failed()) {
      looks.opened = std::string{what};
    } else if (got.error == EACCES || got.error == EPERM) {
      ++looks.refused;
    }
  }
  for (const std::string& fd : names_in("/proc/" + pid + "/fd")) {
    if (!has_arrived(pid, joining)) {
      looks.opened = joined({"/fd/", fd, " of ", link_of("/proc/" + pid + "/exe")});
    }
  }
}

// A new process has the number after the last one's: it is waited for there, since a list of all
// comes too late for most.
class Watch {
 public:
  explicit Watch(std::string joining) : joining_{std::move(joining)} {}

  void look(bool at_all) {
    if (at_all) {
      for (const std::string& pid : pids()) {
        look(pid);
        last_ = std::max(last_, std::strtol(pid.c_str(), nullptr, 10));
      }
    }
    for (long next = last_ + 1; next <= last_ + kAhead; ++next) look(std::to_string(next));
  }
  std::set<std::string> met;
  Looks looks;

 private:
  static constexpr long kAhead = 2;

  void look(const std::string& pid) {
    if (name_of_process(pid) != joining_) return;
    if (pid != "1" && pid != "2") met.insert(pid);
    look_at(pid, joining_, looks);
  }

  std::string joining_;
  long last_ = 0;
};

// For as long as our input lasts, or `--seconds`. Pid 1 and the one that starts others bear the
// same name as those on their way in, and are looked at too.
void catch_joining(const Words& words, Findings& out) {
  if (words.has("joining")) return out.holds("joined", true, std::to_string(::getpid()));
  constexpr unsigned kRounds = 64;
  (void)!::write(STDERR_FILENO, "stands\n", 7);
  (void)::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  Watch watch{words.get("comm", name_of_process("1"))};
  const time_t until = ::time(nullptr) + words.number("seconds", 60);
  char byte = 0;
  for (unsigned round = 0; ::time(nullptr) < until && ::read(STDIN_FILENO, &byte, 1) != 0;
       ++round) {
    watch.look(round % kRounds == 0);
  }
  out.holds("nothing of a joining process opens", watch.looks.opened.empty(), watch.looks.opened);
  out.control("some were met on their way in", !watch.met.empty(), "none of them");
  out.control("and looked at", watch.looks.refused > 0, "no look was refused");
  out.holds("met", true,
            joined({std::to_string(watch.met.size()), ", looks refused ",
                    std::to_string(watch.looks.refused)}));
}

constexpr Row kRows[] = {{"C034", fences}, {"C035", catch_joining}};

}  // namespace

std::span<const Row> join_rows() { return kRows; }

}  // namespace cordon::probe
