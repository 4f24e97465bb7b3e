// SPDX-License-Identifier: Apache-2.0
// Patterns by their plainest definition, to hold the fast ones against: recursion, no indexes.
#pragma once

#include <string_view>
#include <vector>

namespace cordon::policy::naive {

inline bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  if (name.empty()) return false;
  if (pattern[0] == '\\' && pattern.size() > 1) {
    return pattern[1] == name[0] && matches(pattern.substr(2), name.substr(1));
  }
  return (pattern[0] == '?' || pattern[0] == name[0]) && matches(pattern.substr(1), name.substr(1));
}

using Parts = std::vector<std::string_view>;

inline Parts components(std::string_view path) {
  Parts parts;
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    parts.push_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  parts.push_back(path);
  return parts;
}

// Whether the components of `pattern` from `p` on match those of `path` from `s` on, or a beginning
// of them: a pattern covers everything below what it matches. A `**` at the end is one component or
// more, elsewhere none or more.
inline bool covers(const Parts& pattern, std::size_t p, const Parts& path, std::size_t s) {
  if (p == pattern.size()) return true;
  if (pattern[p] == "**") {
    if (p + 1 == pattern.size()) return s < path.size();
    for (std::size_t next = s; next <= path.size(); ++next) {
      if (covers(pattern, p + 1, path, next)) return true;
    }
    return false;
  }
  return s < path.size() && matches(pattern[p], path[s]) && covers(pattern, p + 1, path, s + 1);
}

// Both without a leading slash.
inline bool covers(std::string_view pattern, std::string_view path) {
  return covers(components(pattern), 0, components(path), 0);
}

}  // namespace cordon::policy::naive
