// SPDX-License-Identifier: Apache-2.0
#include "policy/glob.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::policy {
namespace {

// Calls `use` with each component of `path`, until it says false.
template <class F>
bool for_each_component(std::string_view path, F&& use) {
  for (std::size_t start = 0; start <= path.size();) {
    const auto end = std::min(path.find('/', start), path.size());
    if (!use(path.substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

std::string unescaped(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    text += pattern[i];
  }
  return text;
}

Error bad(std::string_view pattern, std::string_view why) {
  return {Errc::invalid, fmt::format("pattern {}: {}", in_quotes(pattern), why)};
}

Status check_characters(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return bad(pattern, "ends in a lone `\\`");
      // Components are split at every slash: this one would end in a backslash and match nothing.
      if (pattern[i] == '/') return bad(pattern, "a slash cannot be part of a name; write `/`");
    } else if (std::string_view{"[]{}"}.find(pattern[i]) != std::string_view::npos) {
      return bad(pattern,
                 "only `*`, `?` and `**` have a meaning; write `\\` before a bracket or brace that "
                 "is part of a name");
    }
  }
  return {};
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) noexcept {
  // Greedy with one point to come back to: the last `*`. Linear times the name's length at worst.
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\';
    if (!escaped && p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() &&
               (escaped ? pattern[p + 1] == name[n] : pattern[p] == '?' || pattern[p] == name[n])) {
      p += escaped ? 2 : 1;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_literal(std::string_view pattern) noexcept {
  return pattern.find_first_of("*?\\") == std::string_view::npos;
}

std::string literal_pattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (std::string_view{"*?\\[]{}"}.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::size_t literal_characters(std::string_view pattern) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool escaped = pattern[i] == '\\' && i + 1 < pattern.size();
    if (escaped) ++i;
    if (escaped || (pattern[i] != '*' && pattern[i] != '?')) ++count;
  }
  return count;
}

bool is_normal_path(std::string_view path) noexcept {
  if (path == "/") return true;
  if (!path.starts_with('/') || path.size() > 4096 || path.find('\0') != std::string_view::npos)
    return false;
  return for_each_component(path.substr(1), [](std::string_view part) {
    return !part.empty() && part.size() <= 255 && part != "." && part != "..";
  });
}

std::optional<std::string_view> below(std::string_view path, std::string_view root) noexcept {
  if (path == root) return std::string_view{};
  if (root == "/") return path.substr(1);
  if (!path.starts_with(root) || path[root.size()] != '/') return std::nullopt;
  return path.substr(root.size() + 1);
}

Status check_path_pattern(std::string_view pattern) {
  if (pattern.empty()) return bad(pattern, "is empty");
  if (pattern.size() > 1024) return bad(pattern, "is longer than 1024 bytes");
  if (pattern.starts_with('~'))
    return bad(pattern, "`~` has no meaning inside; write the path in full");
  TRY_DO(check_characters(pattern));
  const std::string_view relative = pattern.starts_with('/') ? pattern.substr(1) : pattern;
  int doubles = 0;
  bool says_something = false;
  std::string_view fault;
  for_each_component(relative, [&](std::string_view part) {
    if (part.empty()) fault = "has an empty component (`//`, or a slash at the end)";
    if (part == "." || part == "..") fault = "`.` and `..` are not allowed";
    if (part == "**") {
      ++doubles;
    } else if (part.find("**") != std::string_view::npos) {
      fault = "`**` must be a whole component";
    }
    if (literal_characters(part) > 0) says_something = true;
    return fault.empty();
  });
  if (!fault.empty()) return bad(pattern, fault);
  if (doubles > 2) return bad(pattern, "has more than two `**`");
  if (!says_something) return bad(pattern, "too wide: no part of it names anything");
  return {};
}

// The partial matches at one depth. 2 KiB on the stack, so that a decision allocates nothing.
class PatternSet::Active {
 public:
  void add(std::uint32_t node) noexcept {
    if (size_ == nodes_.size()) {
      overflow_ = true;
    } else {
      nodes_[size_++] = node;
    }
  }
  bool has(std::uint32_t node) const noexcept { return std::find(begin(), end(), node) != end(); }
  void clear() noexcept { size_ = 0; }
  bool overflow() const noexcept { return overflow_; }
  const std::uint32_t* begin() const noexcept { return nodes_.data(); }
  const std::uint32_t* end() const noexcept { return nodes_.data() + size_; }

 private:
  std::array<std::uint32_t, 256>
      nodes_;  // NOLINT(cppcoreguidelines-pro-type-member-init): read only up to size_
  std::size_t size_ = 0;
  bool overflow_ = false;
};

std::uint32_t PatternSet::child(std::uint32_t parent, std::string_view component) {
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  std::uint32_t found = fresh;
  Node& node = nodes_[parent];
  if (is_literal(component) || (component.find_first_of("*?") == std::string_view::npos)) {
    found = node.names.try_emplace(unescaped(component), fresh).first->second;
  } else if (component.starts_with('*') && is_literal(component.substr(1)) &&
             component.size() > 1) {
    const std::string_view suffix = component.substr(1);
    found = node.suffixes.try_emplace(std::string{suffix}, fresh).first->second;
    if (std::ranges::find(node.suffix_lengths, suffix.size()) == node.suffix_lengths.end()) {
      node.suffix_lengths.push_back(suffix.size());
    }
  } else {
    const auto known =
        std::ranges::find(node.globs, component, &std::pair<std::string, std::uint32_t>::first);
    if (known != node.globs.end()) {
      found = known->second;
    } else {
      node.globs.emplace_back(component, fresh);
    }
  }
  if (found == fresh) nodes_.emplace_back();
  return found;
}

std::uint32_t PatternSet::any_depth_child(std::uint32_t parent) {
  if (nodes_[parent].any_depth == kNone) {
    nodes_[parent].any_depth = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back().repeats = true;
  }
  return nodes_[parent].any_depth;
}

void PatternSet::add(std::string_view pattern, std::uint32_t rule) {
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  // A pattern covers everything below what it matches, so that a trailing `**` is one component of
  // any name.
  const bool contents = pattern.ends_with("/**");
  if (contents) pattern.remove_suffix(1);
  std::uint32_t node = 0;
  for_each_component(pattern, [&](std::string_view part) {
    node = part == "**" ? any_depth_child(node) : child(node, part);
    return true;
  });
  nodes_[node].rule = std::min(nodes_[node].rule, rule);
}

void PatternSet::activate(std::uint32_t node, Active& active, std::uint32_t& best) const noexcept {
  // Only a `**` node can be reached twice at one depth: it stays, and its parent may lead to it
  // again.
  if (nodes_[node].repeats && active.has(node)) return;
  active.add(node);
  best = std::min(best, nodes_[node].rule);
  if (nodes_[node].any_depth != kNone) activate(nodes_[node].any_depth, active, best);
}

void PatternSet::step(std::uint32_t index, std::string_view component, Active& next,
                      std::uint32_t& best) const noexcept {
  const Node& node = nodes_[index];
  if (node.repeats) activate(index, next, best);
  if (!node.names.empty()) {
    if (const auto found = node.names.find(component); found != node.names.end())
      activate(found->second, next, best);
  }
  for (const std::size_t length : node.suffix_lengths) {
    if (component.size() < length) continue;
    const auto found = node.suffixes.find(component.substr(component.size() - length));
    if (found != node.suffixes.end()) activate(found->second, next, best);
  }
  for (const auto& [glob, target] : node.globs) {
    if (glob_matches(glob, component)) activate(target, next, best);
  }
}

PatternSet::Match PatternSet::match(std::string_view path) const noexcept {
  if (path.empty() || empty()) return {};
  Active even;
  Active odd;
  Active* here = &even;
  Active* next = &odd;
  std::uint32_t best = kNone;
  activate(0, *here, best);
  for_each_component(path, [&](std::string_view component) {
    next->clear();
    for (const std::uint32_t node : *here) step(node, component, *next, best);
    std::swap(here, next);
    return here->begin() != here->end();
  });
  if (best != kNone) return {Outcome::yes, best};
  return {even.overflow() || odd.overflow() ? Outcome::overflow : Outcome::no, 0};
}

}  // namespace cordon::policy
