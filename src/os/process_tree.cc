// SPDX-License-Identifier: Apache-2.0
#include "os/process_tree.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "os/directory.h"
#include "os/file.h"
#include "os/process_stat.h"

namespace cordon::os {
namespace {

// More than any limit of ours lets live; a bound for a walk that somebody feeds.
constexpr std::size_t kMostProcesses = 100'000;

std::uint64_t number_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return value;
}

// The rest of the line that begins with `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) return line.substr(key.size());
    at = end + 1;
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

std::string_view last_word(std::string_view text) {
  const std::size_t at = text.find_last_of(" \t");
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

// A list of pids with a space behind each.
void append_pids(std::string_view text, std::vector<pid_t>& queue) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) queue.push_back(static_cast<pid_t>(number_in(text.substr(at, end - at))));
    at = end + 1;
  }
}

void append_children(const Fd& process, pid_t pid, std::uint64_t threads,
                     std::vector<pid_t>& queue) {
  if (threads == 1) {
    const auto text = read_file(process, fmt::format("task/{}/children", pid).c_str());
    if (text) append_pids(*text, queue);
    return;
  }
  const auto tasks = openat(process, "task", O_RDONLY | O_DIRECTORY);
  if (!tasks) return;
  const auto names = list_directory(*tasks, kMostProcesses);
  if (!names) return;
  for (const std::string& name : *names) {
    const auto text = read_file(*tasks, (name + "/children").c_str());
    if (text) append_pids(*text, queue);
  }
}

// Of its first thread, in nanoseconds: of many processes that get a little each, ticks see nothing.
std::chrono::microseconds exact_cpu(const Fd& process) {
  const auto text = read_file(process, "schedstat");
  return std::chrono::microseconds{text ? number_in(*text) / 1000 : 0};
}

void add_memory(const Fd& process, TreeUse& use) {
  const auto status = read_file(process, "status");
  if (!status) return;
  const std::uint64_t memory =
      (number_in(line_of(*status, "RssAnon:")) + number_in(line_of(*status, "RssShmem:"))) * 1024;
  use.memory += memory;
  if (memory <= use.largest_memory) return;
  use.largest_memory = memory;
  use.largest = trimmed(line_of(*status, "Name:"));
  use.largest_pid = static_cast<std::uint32_t>(number_in(last_word(line_of(*status, "NSpid:"))));
}

}  // namespace

TreeUse measure_tree(pid_t root, Measure what) {
  TreeUse use;
  std::vector<pid_t> queue{root};
  for (std::size_t next = 0; next < queue.size() && next < kMostProcesses; ++next) {
    const std::string path = "/proc/" + std::to_string(queue[next]);
    const auto process = openat(at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!process) continue;
    const auto line = read_file(*process, "stat");
    if (!line) continue;
    const auto stat = parse_process_stat(*line);
    if (!stat) continue;
    ++use.processes;
    use.threads += stat->threads;
    use.cpu += stat->cpu - stat->own + std::max(stat->own, exact_cpu(*process));
    if (what == Measure::memory) add_memory(*process, use);
    append_children(*process, queue[next], stat->threads, queue);
  }
  return use;
}

}  // namespace cordon::os
