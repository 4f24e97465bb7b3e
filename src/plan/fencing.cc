// SPDX-License-Identifier: Apache-2.0
#include "plan/fencing.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "policy/glob.h"

namespace cordon::plan {
namespace {

using frame::PathUse;

// The names of [process] capabilities, with the kernel's numbers.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 8> kCapabilities = {{
    {"chown", 0},
    {"dac_override", 1},
    {"fowner", 3},
    {"fsetid", 4},
    {"kill", 5},
    {"setgid", 6},
    {"setuid", 7},
    {"net_bind_service", 10},
}};

std::vector<std::uint32_t> numbers_of(const Request& request) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : request.settings.capabilities) {
    const auto* const known =
        std::ranges::find(kCapabilities, name, &decltype(kCapabilities)::value_type::first);
    if (known == kCapabilities.end()) {
      request.refusals.add(Errc::internal, "CAPABILITIES",
                           {.tried = "process.capabilities: " + name,
                            .rule = "default",
                            .why = "the plan does not know its number",
                            .fix = {}});
      continue;
    }
    numbers.push_back(known->second);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::string filter_of(const Request& request, const Files& files) {
  std::string name{to_string(request.settings.profile)};
  // On a directory of the host a set-id file would outlive the sandbox with its owner's rights.
  if (files.writes_to_host) name += "+nosetid";
  if (request.situation.monitor == MonitorSource::witness) name += "+notify";
  return name;
}

// One rule for each tree that is mounted: what came in by mistake stays closed. Names alone may be
// listed from the top, as every shell does; nothing but names lies open by that.
std::vector<frame::PathRule> paths_of(const Root& root, const Files& files) {
  const std::span binds{files.binds};
  const auto mounts = binds.last(files.mounts);
  const auto system = binds.first(binds.size() - files.mounts);
  std::vector<frame::PathRule> rules;
  if (root.source != frame::RootSource::host) {
    // Nobody knows what is made at the top of a root that may be written to.
    rules.push_back({"/", root.has_layer ? PathUse::all : PathUse::read_exec});
  } else {
    rules.push_back({"/", PathUse::list});
    rules.push_back({"/etc", PathUse::read});
    for (const frame::Bind& bind : system) {
      if (!policy::below(bind.target, "/etc")) rules.push_back({bind.target, PathUse::read_exec});
    }
  }
  rules.push_back({"/proc", PathUse::read});
  for (const std::string_view device :
       {"full", "null", "ptmx", "pts", "random", "tty", "urandom", "zero"}) {
    rules.push_back({"/dev/" + std::string{device}, PathUse::device});
  }
  for (const std::string& directory : files.directories) rules.push_back({directory, PathUse::all});
  const auto use = [](bool writable) { return writable ? PathUse::all : PathUse::read_exec; };
  for (const frame::Bind& mount : mounts) rules.push_back({mount.target, use(mount.writable)});
  rules.push_back({files.workspace.target, use(files.workspace.writable)});
  return rules;
}

}  // namespace

frame::Fences fences_of(const Request& request, const Root& root, const Files& files,
                        const Identity& identity) {
  frame::Fences fences;
  fences.uid = identity.uid;
  fences.gid = identity.gid;
  // Where there are ids for both.
  fences.root_too =
      request.settings.user == policy::User::either && identity.ids == frame::Ids::range;
  fences.filter = filter_of(request, files);
  fences.capabilities = numbers_of(request);
  // A kernel of its own has none, or another one.
  const bool has_landlock = request.settings.isolation == Isolation::process;
  fences.landlock_abi =
      has_landlock ? std::clamp(request.host.landlock_abi, 0, kNewestLandlock) : 0;
  if (fences.landlock_abi > 0) fences.paths = paths_of(root, files);
  return fences;
}

}  // namespace cordon::plan
