// SPDX-License-Identifier: Apache-2.0
// What is known of sandboxes from their rows in the journal.
#pragma once

#include <optional>

#include "base/result.h"
#include "journal/ledger.h"
#include "node/resident.h"
#include "record/enforcement.h"
#include "record/verdict.h"

namespace cordon::node {

// One that has ended, and whose verdict may still be asked for.
struct EndedSandbox {
  ResidentFacts facts;
  Enforcement enforcement;
  Verdict verdict;
};

// Without grants and charges, which are kept with the plan.
Result<ResidentFacts> facts_of(const journal::SandboxRow& row);

// Nothing: the row is of another version, and nobody is told of it any more.
std::optional<EndedSandbox> read_ended(const journal::SandboxRow& row);

}  // namespace cordon::node
