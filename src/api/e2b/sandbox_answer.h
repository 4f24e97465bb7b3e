// SPDX-License-Identifier: Apache-2.0
// Sandboxes as clients of this face are told of them. (pure)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {

// The version of the services inside that this face speaks like: clients refuse to use what came
// later than it.
inline constexpr std::string_view kEnvdVersion = "0.6.13";

// The body of an error; clients look at the code in it, not at the status.
std::string error_json(int code, std::string_view message);

struct MadeSandbox {
  std::string id;
  std::string template_id;
  std::string access_token;
  std::string traffic_token;
  std::string domain;  // empty: none is told
};
std::string to_json(const MadeSandbox& sandbox);

struct ListedSandbox {
  std::string id;
  std::string template_id;
  WallTime started{};
  WallTime ends{};
  std::map<std::string, std::string> metadata;
  std::uint64_t processors = 0;
  std::uint64_t memory_megabytes = 0;
  std::uint64_t disk_megabytes = 0;
  bool is_paused = false;
};
std::string to_json(const ListedSandbox& sandbox);
std::string to_json(const std::vector<ListedSandbox>& sandboxes);

// What is told of one by its name.
struct SandboxDetail {
  ListedSandbox listed;
  std::string access_token;
  std::string domain;
  bool reaches_all = false;
};
std::string to_json(const SandboxDetail& detail);

struct SandboxMetrics {
  WallTime time{};
  std::uint64_t processors = 0;
  double processor_percent = 0;
  std::uint64_t memory = 0;
  std::uint64_t memory_total = 0;
  std::uint64_t disk = 0;
  std::uint64_t disk_total = 0;
};
std::string to_json(const SandboxMetrics& metrics);

}  // namespace cordon::api::e2b
