// SPDX-License-Identifier: Apache-2.0
// What a caller must look for before lowering: the files that `hide` and `protect` speak about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/situation.h"
#include "policy/policy.h"

namespace cordon::plan {

// Entries that a walk looks at before it gives up.
inline constexpr std::size_t kMostSurveyed = 200'000;
// Entries of a workspace whose bytes are counted.
inline constexpr std::size_t kMostCounted = 100'000;

enum class Cover : std::uint8_t { none, protect, hide };

// What the policy's patterns say about a path inside. One call for each entry of a walk; allocates
// nothing.
Cover cover_of(const policy::Policy& policy, std::string_view path, std::string_view workspace);

// A directory of the host whose content must be known.
//
// `names`: looked up each, without following links. One that exists is reported; where it does not,
// the first component on its way that exists and is no directory is.
//
// `walk`: all entries below, without following links, are asked for by cover_of; one that is
// covered, and not covered in the same way as its parent, is reported. Below a hidden directory
// nothing is looked at.
struct SurveyTree {
  std::string source;              // on the host
  std::string target;              // inside
  std::vector<std::string> names;  // relative to it
  bool walk = false;
  friend bool operator==(const SurveyTree&, const SurveyTree&) = default;
};

// Where the workspace will appear: the third argument of cover_of.
std::string workspace_inside(const policy::Policy& policy, const Situation& situation);

// The workspace and the host's mounts, as far as a pattern can match there; nothing to look at
// where no document hides or protects. A policy that lower() refuses gives what it can.
std::vector<SurveyTree> trees_to_survey(const policy::Policy& policy, const Situation& situation);

// Paths of the host whose disks an `io_limit` is about: the workspace, its layer of changes, the
// policy's mounts. Empty where no limit is stated.
std::vector<std::string> paths_with_io_limit(const policy::Policy& policy,
                                             const Situation& situation);

// The live workspace, where a `disk_limit` is about its growth; else empty.
std::string workspace_to_count(const policy::Policy& policy, const Situation& situation);

}  // namespace cordon::plan
