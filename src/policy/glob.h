// SPDX-License-Identifier: Apache-2.0
// Patterns over paths, and sets of them that are matched all at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace cordon::policy {

// `*` any characters, `?` one; `\` takes the next character as it is. For one name, without
// slashes.
bool glob_matches(std::string_view pattern, std::string_view name) noexcept;

// True when no character of `pattern` has a meaning of its own.
bool is_literal(std::string_view pattern) noexcept;

// The pattern that matches `name` and nothing else.
std::string literal_pattern(std::string_view name);

// Characters of `pattern` that stand for themselves: the more, the more specific.
std::size_t literal_characters(std::string_view pattern) noexcept;

// An absolute path with one spelling: no empty, `.` or `..` component, no NUL, no trailing slash
// (but "/").
bool is_normal_path(std::string_view path) noexcept;

// The components of `path` relative to `root`, or nothing when it is not `root` and not below it.
// Both normal.
std::optional<std::string_view> below(std::string_view path, std::string_view root) noexcept;

// A path pattern: components, each a glob; `**` is any number of components, at the end one or more
// (so that `a/**` leaves `a` itself). It covers what it matches and everything below. Refused:
// empty components, `.` and `..`, brackets and braces (which would silently match nothing), more
// than two `**`, and patterns that match everything.
Status check_path_pattern(std::string_view pattern);

// Many path patterns, matched against a path at the cost of its components, not of their number, as
// long as they are names, `*suffix` or `**` in front of those; other globs are tried one by one.
class PatternSet {
 public:
  // Before: check_path_pattern(pattern) passed. `rule` comes back from match().
  void add(std::string_view pattern, std::uint32_t rule);

  bool empty() const noexcept { return nodes_.size() <= 1; }

  enum class Outcome : std::uint8_t { no, yes, overflow };
  struct Match {
    Outcome outcome = Outcome::no;
    std::uint32_t rule = 0;  // the first added of those that match
  };
  // `path` without a leading slash. Allocates nothing. `overflow`: more partial matches at once
  // than there is room for; the caller must take the answer that refuses.
  Match match(std::string_view path) const noexcept;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using ByName = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    ByName names;
    ByName suffixes;                          // of `*suffix`
    std::vector<std::size_t> suffix_lengths;  // distinct
    std::vector<std::pair<std::string, std::uint32_t>> globs;
    std::uint32_t any_depth = kNone;  // child behind `**`
    std::uint32_t rule = kNone;       // a pattern ends here
    bool repeats = false;             // is such a child: stays active over any component
  };
  class Active;

  std::uint32_t child(std::uint32_t parent, std::string_view component);
  std::uint32_t any_depth_child(std::uint32_t parent);
  void activate(std::uint32_t node, Active& active, std::uint32_t& best) const noexcept;
  void step(std::uint32_t node, std::string_view component, Active& next,
            std::uint32_t& best) const noexcept;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace cordon::policy
