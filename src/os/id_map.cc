// SPDX-License-Identifier: Apache-2.0
// The maps of /proc/PID, the files of subordinate ids, and the helpers of shadow-utils.
#include "os/id_map.h"

#include <charconv>
#include <limits>
#include <optional>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"
#include "os/process.h"

namespace cordon::os {
namespace {

Status write_proc(pid_t pid, const char* file, std::string_view text) {
  return write_file(at_cwd(), fmt::format("/proc/{}/{}", pid, file).c_str(), text);
}

std::optional<std::uint32_t> to_id(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::optional<SubordinateIds> parse_line(std::string_view line, std::string_view name,
                                         std::uint32_t id) {
  const std::size_t first_colon = line.find(':');
  if (first_colon == std::string_view::npos) return {};
  const std::size_t second_colon = line.find(':', first_colon + 1);
  if (second_colon == std::string_view::npos) return {};
  const std::string_view owner = line.substr(0, first_colon);
  if (owner.empty() || (owner != name && to_id(owner) != id)) return {};
  const auto first = to_id(line.substr(first_colon + 1, second_colon - first_colon - 1));
  const auto count = to_id(line.substr(second_colon + 1));
  if (!first || !count || *count == 0) return {};
  if (*count - 1 > std::numeric_limits<std::uint32_t>::max() - *first) return {};
  return SubordinateIds{.first = *first, .count = *count};
}

Status run_helper(const char* path, pid_t pid, std::span<const IdRange> ranges) {
  if (::access(path, X_OK) != 0) {
    return Error{Errc::unavailable, std::string{path} + " is not installed"};
  }
  std::vector<std::string> arguments{path, std::to_string(pid)};
  for (const IdRange& range : ranges) {
    arguments.insert(arguments.end(), {std::to_string(range.inside), std::to_string(range.outside),
                                       std::to_string(range.count)});
  }
  TRY(Pipe said, pipe2());
  TRY(auto helper, Child::start({}, [&] {
        // dup2 of a descriptor onto itself would leave it CLOEXEC; 2 is never the pipe's own number
        // here, because standard error is open in every program of ours.
        if (::dup2(said.write.get(), STDERR_FILENO) < 0) return 127;
        static_cast<void>(execve(path, arguments, {}));
        return 127;
      }));
  said.write = Fd{};
  constexpr std::size_t kMostComplaint = 4096;
  const auto complaint = read_all(said.read, kMostComplaint);
  TRY(const ExitStatus ended, std::move(helper).wait());
  if (ended.success()) return {};
  std::string text = complaint ? *complaint : "";
  while (text.ends_with('\n')) text.pop_back();
  return Error{Errc::denied, fmt::format("{}: {}: {}", path, to_string(ended), text)};
}

}  // namespace

std::string format_id_map(std::span<const IdRange> ranges) {
  std::string text;
  for (const IdRange& range : ranges) {
    text += fmt::format("{} {} {}\n", range.inside, range.outside, range.count);
  }
  return text;
}

Status write_uid_map(pid_t pid, std::span<const IdRange> ranges) {
  return write_proc(pid, "uid_map", format_id_map(ranges));
}

Status write_gid_map(pid_t pid, std::span<const IdRange> ranges) {
  return write_proc(pid, "gid_map", format_id_map(ranges));
}

Status deny_setgroups(pid_t pid) { return write_proc(pid, "setgroups", "deny"); }

std::vector<SubordinateIds> parse_subordinate_ids(std::string_view text, std::string_view name,
                                                  std::uint32_t id) {
  std::vector<SubordinateIds> granted;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (const auto range = parse_line(line, name, id)) granted.push_back(*range);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return granted;
}

Status run_newuidmap(pid_t pid, std::span<const IdRange> ranges) {
  return run_helper("/usr/bin/newuidmap", pid, ranges);
}

Status run_newgidmap(pid_t pid, std::span<const IdRange> ranges) {
  return run_helper("/usr/bin/newgidmap", pid, ranges);
}

}  // namespace cordon::os
