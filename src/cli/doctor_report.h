// SPDX-License-Identifier: Apache-2.0
// What `cordon doctor` prints, as pure functions of what was found.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "record/host_facts.h"

namespace cordon::cli {

struct DoctorReport {
  HostFacts host;
  LevelReached reached;
  std::chrono::milliseconds probe_time{};
};

// For people: an aligned table, at most 100 columns but for commands, which stay whole to be
// pasted.
std::string doctor_text(const DoctorReport& report);

// For programs: one object, its keys stable and always present; docs/doctor.md lists them.
std::string doctor_json(const DoctorReport& report);

// The smallest of the limits that were found; nullopt: none was.
std::optional<std::uint64_t> sandboxes_of(const Capacity& capacity);

}  // namespace cordon::cli
