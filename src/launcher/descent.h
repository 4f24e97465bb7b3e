// SPDX-License-Identifier: Apache-2.0
// The first descent: from the launcher's child to pid 1 of a sandbox.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "launcher/floor.h"
#include "launcher/groups.h"
#include "launcher/program.h"
#include "launcher/sources.h"
#include "os/fd.h"

namespace cordon::launcher {

struct EngineParts;

// All that the child needs, made by the launcher before it exists.
struct Descent {
  const JudgedPlan* plan;  // nullptr: none yet (berth.h)
  const frame::Fences& fences;
  const HostIds& ids;
  const Sources& sources;
  const SandboxGroups& groups;
  const os::Fd& network;         // a namespace of the pool
  const os::Fd& user_namespace;  // of the sandbox; entered last but one
  const os::Fd& control;         // the guest's end of the stream
  const os::Fd& witness;   // the guest's end of the way to whoever is told of calls; may be none
  const Program& program;  // cordon-init
  const os::Fd& launcher;  // a pidfd of it
  const os::Fd& reports;   // to the launcher
  bool may_set_groups = true;
  const EngineParts* engine = nullptr;  // of a plan behind one (engine.h)
  // Made on the way:
  os::Fd namespace_limits{};  // /proc/sys/user
  os::Fd engine_end{};        // a pidfd of the engine
  os::Fd trace{};             // where it comes to tell what programs do (engine_trace.h)
  os::Fd relay{};             // cordon-relay
  os::Fd link{};              // of a machine: the far end of its network's link
};

// Of a berth: how many directories its own disk has ready, and how large that disk is until its
// plan comes.
inline constexpr std::size_t kBerthDirectories = 5;
inline constexpr frame::Disk kBerthDisk{.bytes = 1U << 20U, .inodes = 1024};

struct FailedStep {
  std::string_view step;
  Error error;
};

// Two lines, the step and the errno, then words: what the launcher is told of it.
std::string to_report(const FailedStep& failed);

// Takes all steps and becomes cordon-init, or where there is an engine cordon-relay in front of it:
// returns only when something failed. Without a plan it is
// a pid 1 on bare ground, whose own directories the launcher has got.
FailedStep descend(Descent& descent);

}  // namespace cordon::launcher
