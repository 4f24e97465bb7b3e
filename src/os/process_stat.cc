// SPDX-License-Identifier: Apache-2.0
#include "os/process_stat.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"

namespace cordon::os {
namespace {

// The fields after the name, which is the second, by their numbers in proc(5).
constexpr int kState = 3;
constexpr int kOwnTimes = 14;     // utime and stime
constexpr int kReapedTimes = 16;  // cutime and cstime
constexpr int kThreads = 20;
constexpr int kStarted = 22;

// Where a field's number belongs; null: nobody asks for it.
std::uint64_t* place_of(int field, ProcessStat& stat, std::uint64_t& own, std::uint64_t& reaped) {
  if (field == kOwnTimes || field == kOwnTimes + 1) return &own;
  if (field == kReapedTimes || field == kReapedTimes + 1) return &reaped;
  if (field == kThreads) return &stat.threads;
  return field == kStarted ? &stat.started : nullptr;
}

std::chrono::microseconds from_ticks(std::uint64_t ticks) {
  static const long kPerSecond = ::sysconf(_SC_CLK_TCK);
  return std::chrono::microseconds{ticks * 1'000'000 / static_cast<std::uint64_t>(kPerSecond)};
}

Error not_a_stat() { return Error{Errc::internal, "/proc/PID/stat has another form"}; }

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view line) {
  const std::size_t name = line.rfind(')');
  if (name == std::string_view::npos || line.size() < name + 3) return not_a_stat();
  line.remove_prefix(name + 2);
  ProcessStat stat{.state = line.front()};
  std::uint64_t own = 0;
  std::uint64_t reaped = 0;
  for (int field = kState; field < kStarted; ++field) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return not_a_stat();
    line.remove_prefix(space + 1);
    std::uint64_t* const into = place_of(field + 1, stat, own, reaped);
    if (into == nullptr) continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc{}) return not_a_stat();
    *into += number;
  }
  stat.own = from_ticks(own);
  stat.cpu = stat.own + from_ticks(reaped);
  return stat;
}

Result<ProcessStat> read_process_stat(pid_t pid) {
  auto line = read_file(at_cwd(), fmt::format("/proc/{}/stat", pid).c_str());
  if (!line) {
    // It ended between open and read.
    if (line.error().cause().value() == ESRCH) return Error{Errc::not_found, "it has ended"};
    return std::move(line).error();
  }
  return parse_process_stat(*line);
}

}  // namespace cordon::os
