// SPDX-License-Identifier: Apache-2.0
// The patterns of `hide` and `protect` as places: which path a pattern names, and whether it names
// just that one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/survey.h"
#include "policy/checked.h"

namespace cordon::plan {

struct Pattern {
  Cover cover = Cover::none;
  std::string text;      // as written
  std::string place;     // absolute, inside: the path itself, or what all matches lie below
  bool literal = false;  // `place` is the only path that it names
  const policy::PolicyDocument* document = nullptr;  // that states it
  policy::Place at;
};

// Of all documents, in their order.
std::vector<Pattern> patterns_of(const policy::Policy& policy, std::string_view workspace);

// True when something that `pattern` matches can lie at or below `tree`.
bool can_match_in(const Pattern& pattern, std::string_view tree);

// `path` below `tree`: what follows it, without a slash in front. Before: below(path, tree).
std::string relative_to(std::string_view path, std::string_view tree);

// `tree` with `relative` behind it.
std::string joined(std::string_view tree, std::string_view relative);

}  // namespace cordon::plan
