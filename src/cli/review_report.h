// SPDX-License-Identifier: Apache-2.0
// What a run changed, for a person and for a program.
#pragma once

#include <string>
#include <vector>

#include "review/apply.h"
#include "review/change.h"
#include "review/run_record.h"

namespace cordon::cli {

struct DiffReport {
  review::RunRecord run;
  bool running = false;
  std::vector<review::Change> changes;
};

// A header line and one line per change, deletions first. A new directory is shown by what it
// holds.
std::string diff_text(const DiffReport& report);
std::string diff_json(const DiffReport& report);

std::string apply_text(const review::RunRecord& run, const review::ApplyReport& report);
std::string apply_json(const review::RunRecord& run, const review::ApplyReport& report);

}  // namespace cordon::cli
