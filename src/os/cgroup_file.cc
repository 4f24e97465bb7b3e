// SPDX-License-Identifier: Apache-2.0
// Parsing cgroupfs files and removing trees of groups.
#include "os/cgroup_file.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <dirent.h>
#include <memory>
#include <thread>
#include <unistd.h>

#include "os/file.h"

namespace cordon::os {
namespace {

// A sandbox that may make groups of its own could nest them endlessly; cgroup.max.depth bounds it
// where it is set, and this does everywhere.
constexpr int kDeepest = 64;

std::vector<std::string> child_groups(const Fd& group) {
  std::vector<std::string> names;
  auto copy = openat(group, ".", O_RDONLY | O_DIRECTORY);
  if (!copy) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing{::fdopendir(copy->get()), &::closedir};
  if (!listing) return names;
  static_cast<void>(copy->release());  // closedir closes it
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = &entry->d_name[0];
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void remove_children(const Fd& group, int depth) {
  for (const std::string& name : child_groups(group)) {
    if (depth < kDeepest) {
      if (const auto child = openat(group, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) {
        remove_children(*child, depth + 1);
      }
    }
    ::unlinkat(group.get(), name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || (end != text.data() + text.size() && *end != '\n' && *end != ' ')) {
    return {};
  }
  return value;
}

std::optional<std::uint64_t> parse_keyed(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return parse_number(line.substr(key.size() + 1));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> pids;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (const auto pid = parse_number(line); pid && *pid != 0) {
      pids.push_back(static_cast<pid_t>(*pid));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return pids;
}

std::optional<std::uint64_t> read_number(const Fd& dir, const char* file) {
  const auto text = read_file(dir, file);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> read_keyed(const Fd& dir, const char* file, std::string_view key) {
  const auto text = read_file(dir, file);
  return text ? parse_keyed(*text, key) : std::nullopt;
}

Status remove_group_tree(const Fd& parent, const std::string& name, int tries) {
  for (int tried = 0;; ++tried) {
    if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    // A killed process leaves its group a moment after its death, not at the write that kills it.
    if (errno != EBUSY || tried >= tries) return Error::from_errno("rmdir").with(name);
    if (const auto group = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) {
      remove_children(*group, 0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

}  // namespace cordon::os
