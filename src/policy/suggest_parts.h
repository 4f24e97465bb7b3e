// SPDX-License-Identifier: Apache-2.0
// How suggestions are judged and worded, one refusal at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/act.h"
#include "policy/suggest.h"

namespace cordon::policy {

// What a run wanted, how often.
struct Wish {
  Act act;
  std::uint64_t uses = 1;
};

// It was allowed and failed outside.
bool is_no_matter_of_a_policy(const Denial& denial);

// A refusal that no edit is looked for: a secret, a way out, a private address, another fence.
// After nothing is returned act_of() gives an act.
std::optional<Suggestion> kept_from_suggesting(const Denial& denial, const Lesson& lesson);

// Files of one directory as that directory, where there are three and it may be so.
std::vector<Wish> in_directories(std::vector<Wish> wishes, const Lesson& lesson);

// As one that is suggested, without its changes.
Suggestion suggestion_of(const Wish& wish, const Lesson& lesson);
Suggestion left_to_a_person(const Wish& wish, std::string_view why, const Lesson& lesson);

// Why this change is no matter of a suggestion. Nothing: it may be made.
std::optional<std::string> hindrance_of(const Change& change, const Wish& wish,
                                        const Explanation& told, const Lesson& lesson);

// The limit that ended the run, twice as high.
std::vector<Suggestion> limits_of(const Lesson& lesson, const Policy& policy);

// The run had no network, and nobody saw what it wanted to reach: it failed, or it met nothing
// else that could be its trouble (`has_others`).
bool needs_a_network_to_tell(const Lesson& lesson, const Policy& policy, bool has_others);
// One that reaches nothing, and tells.
Suggestion network_that_tells(const Lesson& lesson);

// "~/x" for what is in the home.
std::string short_path(const std::string& path, const std::string& home);

}  // namespace cordon::policy
