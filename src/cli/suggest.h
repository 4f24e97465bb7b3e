// SPDX-License-Identifier: Apache-2.0
// The parts of `cordon suggest`.
#pragma once

#include <iosfwd>
#include <string>

#include "cli/audit_verbs.h"
#include "cli/run_history.h"
#include "cli/verbs.h"
#include "policy/suggest.h"

namespace cordon::cli {

struct SuggestOptions {
  AuditOptions log;       // where it is, and whether JSON is wanted
  std::string sandbox;    // empty: the last one
  std::string policy;     // a file, or a preset
  std::string write;      // a file; empty: only say it
  std::string workspace;  // empty: as the run had it
  bool yes = false;
};

// The document that is changed.
struct ChangedPolicy {
  std::string file;    // its name in what is said; where it is to be written, if it is
  std::string text;    // as it is now; of a preset a document that extends it
  std::string before;  // what the file holds; empty: there is none yet
};
// Errors: invalid where nothing says which policy the run had, or two things do.
Result<ChangedPolicy> policy_to_change(const SuggestOptions& options);

// For a person, and for a program.
std::string words_of(const policy::Suggestions& found, const RunHistory& run,
                     const std::string& file);
std::string json_of(const policy::Suggestions& found, const RunHistory& run,
                    const ChangedPolicy& policy);

// Shows what would be another, asks where a person is there to answer, and writes it in one step.
// Exit 3: nobody is there, and --yes was not said.
void write_policy(const SuggestOptions& options, const ChangedPolicy& policy,
                  const std::string& text, Context& context);

}  // namespace cordon::cli
