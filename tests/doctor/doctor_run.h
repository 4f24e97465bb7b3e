// SPDX-License-Identifier: Apache-2.0
// Runs the real `cordon doctor` under a mask and reads what it says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "record/host_facts.h"

namespace cordon::doctor_test {

struct Outcome {
  int exit = -1;
  std::string out;
  std::string err;
};

// Who the doctor runs as.
enum class As { caller, root, nobody };

// `mask MASKS -- cordon doctor ARGUMENTS`. For `nobody` the program is first copied to where that
// user can reach it.
Outcome run_doctor(As as, const std::vector<std::string>& masks,
                   const std::vector<std::string>& arguments);

struct Report {
  std::map<std::string, std::string> support;  // by feature
  std::map<std::string, std::string> detail;
  std::map<std::string, std::string> remedy;
  std::string level;
  std::vector<std::string> missing;
  std::string cgroup_layout;
  std::int64_t landlock_abi = 0;
  std::int64_t sandboxes_by_fds = 0;
  std::int64_t probe_ms = 0;
};

// Parses what `cordon doctor --json` printed; a failed test when it is no such object.
Report parse(const std::string& text);

// run_doctor with --json, parsed. The exit code must agree with the level.
Report examine(As as, const std::vector<std::string>& masks);

// Programs that run `cordon doctor` now, anywhere on the host.
std::vector<pid_t> living_doctors();

// Groups of probes, in any hierarchy.
std::vector<std::string> groups_of_probes();

}  // namespace cordon::doctor_test
