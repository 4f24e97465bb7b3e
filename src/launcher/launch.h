// SPDX-License-Identifier: Apache-2.0
// From a judged plan to a living pid 1.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "frame/launcher.h"
#include "launcher/berth.h"
#include "launcher/egress.h"
#include "launcher/erofs_roots.h"
#include "launcher/floor.h"
#include "launcher/floor_sources.h"
#include "launcher/group_pool.h"
#include "launcher/groups.h"
#include "launcher/identity.h"
#include "launcher/image_keeper.h"
#include "launcher/machine_templates.h"
#include "launcher/net_pool.h"
#include "launcher/notary.h"
#include "launcher/pins.h"
#include "launcher/program.h"
#include "launcher/recorder.h"
#include "launcher/sandbox.h"
#include "launcher/spares.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

// Namespaces of the launcher's own, to come back to.
struct Home {
  os::Fd mount;
  os::Fd uts;
};

// What a launcher has for all its sandboxes. It outlives them.
struct Workshop {
  Floor floor;
  FloorSources sources;
  Pins pins{};
  ErofsRoots roots{};
  OwnIds own;
  RangeLender ranges;
  os::Fd self;  // a pidfd of the launcher
  Program program;
  NetPool networks;
  std::optional<NetPool> steered;  // made ahead from the first OpenEgress on
  std::unique_ptr<Egresses> egresses;
  NotaryKeeper notary;
  ImageKeeper images;
  std::optional<Recorder> recorder{};  // of a service, where the kernel takes it
  os::CgroupTrees trees;
  GroupPool groups;
  BerthPool berths;
  Spares spares{0};
  MachineTemplates machines{};
  Home home;  // of a service: where the launcher itself is

  // Answers OpenEgress.
  Result<OpenedEgress> open_egress(const std::string& tenant, const os::Fd& kept);

  // Answers OpenNotary.
  Result<os::Fd> open_notary() { return notary.open(floor.ranges > 0 ? &ranges : nullptr); }

  // Whether there is something to make ahead when nobody waits, and making one of them.
  bool wants_more() const noexcept;
  void refill();
};

// Whether what its caller waits for is not our work: an engine, or a program that it begins with.
bool is_slow_to_begin(const frame::LaunchPlan& plan) noexcept;

std::variant<Sandbox, LaunchFailure> launch(const JudgedPlan& plan, Workshop& workshop);
// The same from nothing, for a trial: where it has a network, nobody holds what it ends at.
std::variant<Sandbox, LaunchFailure> launch_alone(const JudgedPlan& plan, Workshop& workshop);
// The same for whoever comes next.
std::variant<Spare, LaunchFailure> launch_ahead(const JudgedPlan& plan, Workshop& workshop);

// A machine as the plan wants it, started and saved when it is ready for its Wake.
Result<MachineTemplate> save_machine(const JudgedPlan& plan, Workshop& workshop,
                                     std::chrono::seconds patience);

}  // namespace cordon::launcher
