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
#include "launcher/disk_image.h"
#include "launcher/egress.h"
#include "launcher/erofs_roots.h"
#include "launcher/floor.h"
#include "launcher/floor_sources.h"
#include "launcher/group_pool.h"
#include "launcher/groups.h"
#include "launcher/identity.h"
#include "launcher/machine_templates.h"
#include "launcher/net_pool.h"
#include "launcher/notary.h"
#include "launcher/program.h"
#include "launcher/recorder.h"
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
  ErofsRoots roots{};
  OwnIds own;
  RangeLender ranges;
  os::Fd self;  // a pidfd of the launcher
  Program program;
  NetPool networks;
  std::optional<NetPool> steered;  // made ahead from the first OpenEgress on
  std::unique_ptr<Egresses> egresses;
  NotaryKeeper notary;
  std::optional<Recorder> recorder{};  // of a service, where the kernel takes it
  os::CgroupTrees trees;
  GroupPool groups;
  BerthPool berths;
  MachineTemplates machines{};
  Home home;  // of a service: where the launcher itself is

  // A namespace as the plan wants it, and where it has a way out, that way held by its egress.
  struct TakenNetwork {
    os::Fd netns;
    std::optional<HeldNetwork> held;
  };
  Result<TakenNetwork> take_network(const frame::LaunchPlan& plan);
  // Where everything is refused.
  static Result<TakenNetwork> take_closed_network();
  // Answers OpenEgress.
  Result<OpenedEgress> open_egress(const std::string& tenant, const os::Fd& kept);

  // Answers OpenNotary.
  Result<os::Fd> open_notary() { return notary.open(floor.ranges > 0 ? &ranges : nullptr); }

  // Whether there is something to make ahead when nobody waits, and making one of them.
  bool wants_more() const noexcept;
  void refill();
};

// A sandbox as its launcher holds it: three descriptors (control, pidfd, the range's lock) and no
// more, because they are what bounds the number of sandboxes; a fourth where its disk is an image,
// and two where it has a network.
// Destroying it ends it: pid 1 is killed and reaped, with it everything in its pid namespace; then
// the groups go, then the disk, then the ids are free for the next, then its way out is closed.
struct Sandbox {
  std::optional<HeldNetwork> network;
  std::optional<LentRange> range;
  std::optional<DiskImage> disk;
  SandboxGroups groups;
  os::Child init;
  os::Fd control;         // the host's end of the stream; a copy is with the node
  os::Fd witness;         // the host's end of the way for filters' listeners, until it is sent
  std::uint64_t tag = 0;  // by which its launcher hears of its end
};

std::variant<Sandbox, LaunchFailure> launch(const JudgedPlan& plan, Workshop& workshop);
// The same from nothing, for a trial: where it has a network, nobody holds what it ends at.
std::variant<Sandbox, LaunchFailure> launch_alone(const JudgedPlan& plan, Workshop& workshop);

// A machine as the plan wants it, started and saved when it is ready for its Wake.
Result<MachineTemplate> save_machine(const JudgedPlan& plan, Workshop& workshop,
                                     std::chrono::seconds patience);

}  // namespace cordon::launcher
