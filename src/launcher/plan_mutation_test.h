// SPDX-License-Identifier: Apache-2.0
// Plans near the floor: one that keeps it, and what a hostile node could make of it.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "frame/launch_plan.h"
#include "launcher/floor.h"

namespace cordon::launcher {

inline Floor root_floor() { return {.first_id = kFirstId, .ranges = 16, .sources = {"/srv"}}; }
inline Floor user_floor() { return {.sources = {"/srv"}, .caller_ids = true}; }

inline frame::LaunchPlan good_plan() {
  frame::LaunchPlan plan;
  plan.id = "abcd2345";
  plan.namespaces = frame::kNamespaces;
  plan.no_new_privs = true;
  plan.ids = frame::Ids::range;
  plan.binds = {{.source = "/srv/docs", .target = "/docs"}};
  plan.directories = {"/dev/shm", "/tmp"};
  plan.workspace = {.kind = frame::WorkspaceKind::live,
                    .source = "/srv/w",
                    .target = "/w",
                    .pins = {{.path = ".git/hooks", .directory = true}}};
  plan.disk = {.bytes = 1U << 20U, .inodes = 1000};
  plan.setup.fences = {.uid = 1000, .gid = 1000, .filter = "strict+nosetid", .landlock_abi = 1};
  return plan;
}

// Values that tend to lie at an edge.
inline std::uint32_t edge(std::mt19937& random) {
  constexpr std::array kEdges = {0U,          1U,          999U,       1000U,   65'533U,
                                 65'534U,     65'535U,     65'536U,    65'537U, 0x60000000U,
                                 0x7fffffffU, 0x80000000U, 0xffffffffU};
  return random() % 4 == 0 ? static_cast<std::uint32_t>(random())
                           : kEdges[random() % kEdges.size()];
}

inline std::string odd_path(std::mt19937& random) {
  static const std::array<std::string, 18> kPaths = {
      "/",          "",         "/srv",     "/srv/w",      "/srv/../root", "/root",
      "/proc/self", "/proc",    "/dev/shm", "/dev/null",   "/sys",         "srv",
      "/srv//x",    "/srv/./x", "/srvx",    "/etc/shadow", "/srv/w/",      "/tmp"};
  return kPaths[random() % kPaths.size()];
}

inline void mutate(frame::LaunchPlan& plan, std::mt19937& random) {
  static const std::array<const char*, 9> kFilters = {
      "strict", "compat",         "init",
      "",       "strict+nosetid", "compat+nosetid",
      "none",   "STRICT",         "compat+nosetid+notify"};
  frame::Fences& fences = plan.setup.fences;
  switch (random() % 16) {
    case 0:
      plan.namespaces ^= 1U << (random() % 32);
      break;
    case 1:
      plan.no_new_privs = !plan.no_new_privs;
      break;
    case 2:
      plan.ids = random() % 2 == 0 ? frame::Ids::caller : frame::Ids::range;
      break;
    case 3:
      fences.uid = edge(random);
      break;
    case 4:
      fences.gid = edge(random);
      break;
    case 5:
      fences.filter = kFilters[random() % kFilters.size()];
      break;
    case 6:
      fences.capabilities.push_back(random() % 70);
      break;
    case 7:
      plan.binds.push_back({odd_path(random), odd_path(random), random() % 2 == 0});
      break;
    case 8:
      plan.workspace.source = odd_path(random);
      break;
    case 9:
      plan.workspace.target = odd_path(random);
      break;
    case 10:
      plan.workspace.kind = static_cast<frame::WorkspaceKind>(random() % 3);
      break;
    case 11:
      plan.root = frame::RootSource::directory;
      plan.root_path = odd_path(random);
      plan.root_layer = random() % 2 == 0;
      if (random() % 2 == 0) plan.homes.push_back(odd_path(random));
      break;
    case 12:
      plan.disk = {edge(random), edge(random), random() % 2 == 0};
      break;
    case 13:
      plan.directories.push_back(odd_path(random));
      break;
    case 14:
      plan.workspace.state = odd_path(random);
      break;
    default:
      plan.network = random() % 2 == 0;
      break;
  }
}

// An encoded plan, changed in one to five of its values, and sometimes in its bytes.
inline std::vector<std::byte> mutated_plan(std::mt19937& random,
                                           frame::LaunchPlan plan = good_plan()) {
  for (std::uint32_t count = 1 + random() % 5; count > 0; --count) mutate(plan, random);
  std::vector<std::byte> bytes = frame::encode(plan);
  if (random() % 4 == 0) {
    for (std::uint32_t count = 1 + random() % 3; count > 0; --count) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
  }
  return bytes;
}

}  // namespace cordon::launcher
