// SPDX-License-Identifier: Apache-2.0
#include "guest/stillness.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <ranges>
#include <string>
#include <unistd.h>
#include <utility>

#include "guest/directory.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

std::optional<pid_t> pid_in(const std::string& name) {
  pid_t pid = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, pid);
  if (error != std::errc{} || at != end || pid <= 1) return std::nullopt;
  return pid;
}

std::optional<char> state_of(const os::Fd& proc, pid_t pid) {
  const auto stat = os::read_file(proc, (std::to_string(pid) + "/stat").c_str(), 512);
  return stat ? state_in(*stat) : std::nullopt;
}

}  // namespace

// The name before it is the process's own word, and may have brackets of its own.
std::optional<char> state_in(std::string_view stat) {
  const std::size_t end = stat.rfind(") ");
  if (end == std::string_view::npos || end + 2 >= stat.size()) return std::nullopt;
  return stat[end + 2];
}

Result<std::vector<Stillness::Seen>> Stillness::look() {
  TRY(const os::Fd proc, os::openat(os::at_cwd(), "/proc", O_RDONLY | O_DIRECTORY));
  TRY(const std::vector<std::string> names, names_in(proc));
  std::vector<Seen> all;
  for (const std::string& name : names) {
    const auto pid = pid_in(name);
    const auto state = pid ? state_of(proc, *pid) : std::nullopt;
    if (state) all.push_back({*pid, *state});
  }
  std::ranges::sort(all, {}, &Seen::pid);
  return all;
}

void Stillness::begin() {
  if (!std::exchange(is_on_, true)) {
    if (const auto all = look()) {
      for (const Seen& each : *all) {
        if (each.state == 'T') before_.insert(each.pid);
      }
    }
  }
  ::kill(-1, SIGSTOP);
}

void Stillness::hold_all_but(pid_t spared) {
  held_.clear();
  if (const auto all = look()) {
    for (const Seen& each : *all) {
      if (each.pid != spared) held_.insert(each.pid);
    }
  }
  if (spared > 0) ::kill(spared, SIGCONT);
}

void Stillness::hold() {
  if (!is_on_) return;
  const auto proc = os::openat(os::at_cwd(), "/proc", O_RDONLY | O_DIRECTORY);
  if (!proc) return;
  for (const pid_t pid : held_) {
    const auto state = state_of(*proc, pid);
    if (state && !stands(*state)) ::kill(pid, SIGSTOP);
  }
}

void Stillness::end() {
  if (!std::exchange(is_on_, false)) return;
  const auto all = look();
  if (all) {
    for (const Seen& each : *all | std::views::reverse) {
      if (!before_.contains(each.pid)) ::kill(each.pid, SIGCONT);
    }
  } else {
    ::kill(-1, SIGCONT);
  }
  held_.clear();
  before_.clear();
}

}  // namespace cordon::guest
