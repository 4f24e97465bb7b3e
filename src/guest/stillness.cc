// SPDX-License-Identifier: Apache-2.0
#include "guest/stillness.h"

#include <algorithm>
#include <array>
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

using namespace std::chrono_literals;

constexpr std::size_t kLongestLine = 512;
// In the first look all stand, but for who is being born behind a user-space kernel.
constexpr int kMostRounds = 16;
constexpr Stillness::Clock::duration kSoon = 50ms;
constexpr Stillness::Clock::duration kSeldom = 5s;
// Signals that stop one wait until it runs: on a machine that is busy for a while.
constexpr Stillness::Clock::duration kMostAwake = 5s;
// A death may wake an innocent; a timer does so again and again, in one or in one after another.
constexpr int kMostWakes = 3;
constexpr int kMostWakesOfAll = 32;

std::optional<pid_t> number_in(std::string_view text) {
  pid_t number = 0;
  const auto [at, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{} || at != text.end()) return std::nullopt;
  return number;
}

std::optional<ProcessLine> read_line(const os::Fd& place, const std::string& name) {
  const auto stat = os::read_file(place, (name + "/stat").c_str(), kLongestLine);
  return stat ? line_of(*stat) : std::nullopt;
}

// Of one whose first thread has ended: the state of one that has not.
char state_of_others(const os::Fd& proc, const std::string& pid) {
  const auto tasks = os::openat(proc, (pid + "/task").c_str(), O_RDONLY | O_DIRECTORY);
  const auto names = tasks ? names_in(*tasks) : Result<std::vector<std::string>>{tasks.error()};
  if (!names) return 'Z';
  char state = 'Z';
  for (const std::string& name : *names) {
    const auto line = number_in(name) ? read_line(*tasks, name) : std::nullopt;
    if (!line || line->state == 'Z' || line->state == 'X') continue;
    state = line->state;
    if (!stands(state)) break;
  }
  return state;
}

}  // namespace

// The name before it is the process's own word, and may have brackets of its own.
std::optional<ProcessLine> line_of(std::string_view stat) {
  constexpr std::size_t kSession = 3;  // fields behind the state
  constexpr std::size_t kThreads = 17;
  const std::size_t end = stat.rfind(") ");
  if (end == std::string_view::npos || end + 2 >= stat.size()) return std::nullopt;
  ProcessLine line{.state = stat[end + 2]};
  std::size_t field = 0;
  for (const auto part : std::views::split(stat.substr(end + 2), ' ')) {
    const std::string_view text{part.begin(), part.end()};
    if (field == kSession) line.session = number_in(text).value_or(-1);
    if (field == kThreads) line.threads = number_in(text).value_or(0);
    ++field;
  }
  return line;
}

Result<std::vector<Stillness::Seen>> Stillness::look() {
  TRY(const os::Fd proc, os::openat(os::at_cwd(), "/proc", O_RDONLY | O_DIRECTORY));
  TRY(const std::vector<std::string> names, names_in(proc));
  std::vector<Seen> all;
  for (const std::string& name : names) {
    const auto pid = number_in(name);
    const auto line = pid && *pid > 1 ? read_line(proc, name) : std::nullopt;
    if (!line) continue;
    const bool has_others = line->state == 'Z' && line->threads > 1;
    all.push_back({*pid, has_others ? state_of_others(proc, name) : line->state, line->session});
  }
  std::ranges::sort(all, {}, &Seen::pid);
  return all;
}

bool Stillness::is_ours(const Seen& seen) const {
  return seen.session == session_ && !is_program_(seen.pid);
}

void Stillness::begin() {
  if (!std::exchange(is_on_, true)) {
    session_ = ::getsid(0);
    wakes_ = 0;
    if (const auto all = look()) {
      for (const Seen& each : *all) {
        if (each.state == 'T') before_.insert(each.pid);
      }
    }
  }
  std::set<pid_t> known;
  for (int round = 0; round < kMostRounds; ++round) {
    ::kill(-1, SIGSTOP);
    const auto all = look();
    if (!all) break;
    bool is_new = false;
    for (const Seen& each : *all) {
      is_new = (known.insert(each.pid).second && !stands(each.state)) || is_new;
    }
    if (!is_new) break;
  }
  looked_ = Clock::now();
  pause_ = kSoon;
}

void Stillness::let_ours_go_on() {
  const auto all = look();
  if (!all) return;
  for (const Seen& each : *all) {
    if (is_ours(each)) ::kill(each.pid, SIGCONT);
  }
}

bool Stillness::hold(const Seen& seen, Clock::time_point now) {
  Held& held = held_.try_emplace(seen.pid, Held{.awake_since = now}).first->second;
  if (seen.state == 'D') {
    // It waits for a device, or for a child that stands; after that it stops.
    ::kill(seen.pid, SIGSTOP);
    return false;
  }
  if (stands(seen.state)) {
    held.has_stood = true;
    return false;
  }
  if (std::exchange(held.has_stood, false)) {
    held.awake_since = now;
    ++held.wakes;
    ++wakes_;
  }
  const bool resists =
      held.wakes > kMostWakes || wakes_ > kMostWakesOfAll || now - held.awake_since > kMostAwake;
  ::kill(seen.pid, resists ? SIGKILL : SIGSTOP);
  return true;
}

void Stillness::look_again() {
  if (!is_on_) return;
  const auto now = Clock::now();
  const auto all = look();
  bool is_awake = false;
  if (all) {
    for (const Seen& each : *all) {
      if (!is_ours(each)) is_awake = hold(each, now) || is_awake;
    }
  }
  looked_ = now;
  pause_ = is_awake ? kSoon : std::min(2 * pause_, kSeldom);
}

std::optional<Stillness::Clock::time_point> Stillness::deadline() const {
  if (!is_on_) return std::nullopt;
  return looked_ + pause_;
}

void Stillness::look_soon() { pause_ = std::min(pause_, kSoon); }

void Stillness::forget(pid_t pid) {
  held_.erase(pid);
  before_.erase(pid);
}

void Stillness::end() {
  if (!std::exchange(is_on_, false)) return;
  if (const auto all = look()) {
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
