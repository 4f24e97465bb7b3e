// SPDX-License-Identifier: Apache-2.0
// The sandbox in which a template is built, said in the words of API v1. (pure)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::api::e2b {

struct BuildGround {
  std::string image;
  std::vector<std::string> reach;  // rules of egress_allowlist; none: no network
  std::uint64_t memory = 0;        // bytes
  std::uint64_t disk = 0;          // bytes, for all that the steps write
};

// Of a sandbox in which a template is built: it is no client's.
inline constexpr std::string_view kBuildLabel = "e2b.build";
inline constexpr std::uint64_t kLongestBuild = 3600;  // seconds

// The body of a create. The preset `build`, with what installing packages takes: an id 0 inside
// that may give files away.
std::string build_request(const BuildGround& ground, std::string_view build);

}  // namespace cordon::api::e2b
