// SPDX-License-Identifier: Apache-2.0
// Marks changes whose effect lies outside the review: files that run elsewhere, and links and bits
// that reach further than their text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "review/change.h"

namespace cordon::review {

// A row of the table of files that something else runs or obeys. `pattern` is compared by path
// components, without regard to ASCII case, at any depth: "Makefile" is a name,
// ".vscode/tasks.json" the end of a path, "hooks/" anything below a directory. `*` at either end of
// a component stands for any characters.
struct RunsElsewhere {
  std::string_view pattern;
  std::string_view code;
  std::string_view reason;
};
std::span<const RunsElsewhere> runs_elsewhere() noexcept;

bool matches(std::string_view pattern, std::string_view path);

// What a change's path and contents say, by themselves. `before` and `after` are the texts where
// they could be read.
std::vector<Flag> flags_of(const Change& change, const std::optional<std::string>& before,
                           const std::optional<std::string>& after);

// A link at `path` (relative to the workspace) whose target can lie outside: absolute, climbing
// above the workspace, or with a `..` behind a name, which may be another link.
bool leads_out(std::string_view path, std::string_view target);

// What a package.json changes in the parts that package managers run or fetch.
std::vector<Flag> package_flags(std::string_view before, std::string_view after);

}  // namespace cordon::review
