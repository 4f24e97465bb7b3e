// SPDX-License-Identifier: Apache-2.0
#include "review/flags.h"

#include <algorithm>
#include <iterator>

#include "review/printable.h"

namespace cordon::review {
namespace {

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (!part.empty()) parts.push_back(part);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return parts;
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_case, lower_case);
}

// At most one `*`.
bool matches_component(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return same(pattern, name);
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && same(head, name.substr(0, head.size())) &&
         same(tail, name.substr(name.size() - tail.size()));
}

bool matches_at(std::span<const std::string_view> pattern, std::span<const std::string_view> path) {
  return std::ranges::equal(pattern, path.first(pattern.size()), matches_component);
}

bool is_text_or_file(const Change& change) { return change.type != os::FileType::directory; }

void table_flags(const Change& change, std::vector<Flag>& flags) {
  for (const RunsElsewhere& row : runs_elsewhere()) {
    if (!matches(row.pattern, change.path)) continue;
    flags.push_back({std::string{row.code}, std::string{row.reason}});
    return;  // one reason to look is enough, and the first rows are the sharper ones
  }
}

void git_directory_flags(const Change& change, std::vector<Flag>& flags) {
  if (!matches(".git", change.path)) return;
  if (change.type != os::FileType::directory) {
    flags.push_back({"git_config", "points git to another repository, whose hooks and config run"});
  } else if (change.kind != ChangeKind::mode_changed) {
    flags.push_back({"git_config", "a new repository: git here obeys its hooks and config"});
  }
}

void mode_flags(const Change& change, std::vector<Flag>& flags) {
  constexpr std::uint32_t kSetId = 06000;
  constexpr std::uint32_t kExecute = 0111;
  const std::uint32_t before = change.lower ? change.lower->mode : 0;
  if ((change.mode & kSetId & ~before) != 0) {
    flags.push_back({"set_id", "set-id bits, which are not applied"});
  }
  if (change.type != os::FileType::regular) return;
  const bool was_file = change.lower && change.lower->type == os::FileType::regular;
  if ((change.mode & kExecute) == 0 || (was_file && (before & kExecute) != 0)) return;
  flags.push_back({"executable", was_file ? "becomes executable" : "new executable"});
}

void link_flags(const Change& change, std::vector<Flag>& flags) {
  if (change.type != os::FileType::symlink || !leads_out(change.path, change.target)) return;
  flags.push_back({"link_out", "leads out of the workspace: " + printable(change.target)});
}

}  // namespace

bool matches(std::string_view pattern, std::string_view path) {
  const bool below = pattern.ends_with('/');
  const auto wanted = components(pattern);
  const auto parts = components(path);
  const std::span all{parts};
  if (parts.size() < wanted.size() + (below ? 1 : 0)) return false;
  if (!below) return matches_at(wanted, all.last(wanted.size()));
  for (std::size_t at = 0; at + wanted.size() < parts.size(); ++at) {
    if (matches_at(wanted, all.subspan(at))) return true;
  }
  return false;
}

bool leads_out(std::string_view path, std::string_view target) {
  if (target.starts_with('/')) return true;
  auto depth = static_cast<long>(components(path).size()) - 1;  // directories above the link
  bool named = false;
  for (const std::string_view part : components(target)) {
    if (part == ".") continue;
    if (part != "..") {
      named = true;
    } else if (named || --depth < 0) {
      return true;
    }
  }
  return false;
}

std::vector<Flag> flags_of(const Change& change, const std::optional<std::string>& before,
                           const std::optional<std::string>& after) {
  std::vector<Flag> flags;
  if (change.kind == ChangeKind::deleted) {
    return flags;  // what is gone runs nowhere
  }
  if (is_text_or_file(change)) table_flags(change, flags);
  git_directory_flags(change, flags);
  if (matches("package.json", change.path) && is_text_or_file(change)) {
    if (after) {
      auto found = package_flags(before.value_or("{}"), *after);
      std::ranges::move(found, std::back_inserter(flags));
    } else {
      flags.push_back({"package", "cannot be read as text, and package managers run it"});
    }
  }
  mode_flags(change, flags);
  link_flags(change, flags);
  return flags;
}

}  // namespace cordon::review
