// SPDX-License-Identifier: Apache-2.0
// The calls that a filter refuses, read from the golden sweep, and what they answer here.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace cordon::probe {

struct Refusal {
  long number = 0;
  std::array<long, 6> arguments = {-1, -1, -1, -1, -1, -1};
  int error = 0;
};

// Of one column, by the profile's name; ordered by number.
std::vector<Refusal> refusals(const std::string& path, const std::string& profile);

// Makes these calls in a child; empty where every one is refused as it says, else what was not.
std::string try_all(std::span<const Refusal> calls);

}  // namespace cordon::probe
