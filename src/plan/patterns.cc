// SPDX-License-Identifier: Apache-2.0
#include "plan/patterns.h"

#include "policy/glob.h"

namespace cordon::plan {
namespace {

Pattern pattern_of(Cover cover, const policy::Stated<std::string>& stated,
                   const policy::PolicyDocument& document, std::string_view workspace) {
  Pattern pattern{.cover = cover,
                  .text = stated.value,
                  .place = {},
                  .literal = policy::is_literal(stated.value),
                  .document = &document,
                  .at = stated.place};
  const bool anywhere = stated.value.starts_with("**/");
  const bool absolute = stated.value.starts_with('/');
  std::string_view rest = stated.value;
  if (absolute) rest.remove_prefix(1);
  pattern.place = absolute || anywhere ? "/" : std::string{workspace};
  while (!rest.empty()) {
    const auto end = std::min(rest.find('/'), rest.size());
    const std::string_view component = rest.substr(0, end);
    if (!policy::is_literal(component)) break;
    pattern.place = joined(pattern.place, component);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return pattern;
}

}  // namespace

std::string joined(std::string_view tree, std::string_view relative) {
  std::string path{tree};
  if (relative.empty()) return path;
  if (!path.ends_with('/')) path += '/';
  return path.append(relative);
}

std::string relative_to(std::string_view path, std::string_view tree) {
  return std::string{policy::below(path, tree).value_or(path)};
}

std::vector<Pattern> patterns_of(const policy::Policy& policy, std::string_view workspace) {
  std::vector<Pattern> all;
  for (const auto& checked : policy.documents()) {
    const policy::PolicyDocument& document = checked->document();
    for (const auto& stated : document.filesystem.hide.items)
      all.push_back(pattern_of(Cover::hide, stated, document, workspace));
    for (const auto& stated : document.filesystem.protect.items)
      all.push_back(pattern_of(Cover::protect, stated, document, workspace));
  }
  return all;
}

bool can_match_in(const Pattern& pattern, std::string_view tree) {
  return policy::below(pattern.place, tree) || policy::below(tree, pattern.place);
}

}  // namespace cordon::plan
