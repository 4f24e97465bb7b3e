// SPDX-License-Identifier: Apache-2.0
// What a run was, for a program: the file of `--json`.
#pragma once

#include <string>
#include <vector>

#include "node/run.h"
#include "os/fd.h"
#include "plan/lower.h"
#include "record/denial.h"
#include "record/host_facts.h"

namespace cordon::cli {

struct RunReport {
  std::string id;
  std::vector<std::string> command;
  Level level = Level::none;
  Enforcement enforcement;
  std::vector<Denial> denials;
  std::optional<node::RunOutcome> outcome;  // nothing: it was refused before it started
  std::string failure;                      // why it did not start
  std::string review;                       // the run that `cordon diff` shows; empty: none
  int exit = 0;
};

std::string to_json(const RunReport& report);

}  // namespace cordon::cli
