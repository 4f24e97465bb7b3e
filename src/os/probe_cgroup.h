// SPDX-License-Identifier: Apache-2.0
// Experiments with control groups of our own. They are made in this process, which outlives every
// trial, so that they are removed however a trial ends.
#pragma once

#include <string>
#include <vector>

#include "os/probe_identity.h"
#include "os/probe_trial.h"
#include "record/host_facts.h"

namespace cordon::os {

struct CgroupFindings {
  CgroupLayout layout = CgroupLayout::none;
  std::vector<std::string> controllers;  // of memory, pids and cpu: those that took our limit
  Fact limits;
  Fact kill;
};

// Groups are made below the caller's own (version 2: or above it, where its own can hand no
// controller on), limited, read back and entered by a child, which the pids limit must then keep
// from forking. Groups of others are neither changed nor entered.
CgroupFindings probe_cgroup(const Caller& caller, const TrialLimit& limit);

}  // namespace cordon::os
