// SPDX-License-Identifier: Apache-2.0
#include "launcher/save_like.h"

#include <limits>

#include "launcher/trial_sandbox.h"

namespace cordon::launcher {
namespace {

// What most plans ask for here: a copy whose plan differs by its limits alone finds all else done.
frame::Fences usual_fences(const Workshop& workshop) {
  frame::Fences fences = trial_plan(workshop, frame::Engine::machine).setup.fences;
  if (workshop.floor.ranges == 0) {
    fences.uid = workshop.own.uid;
    fences.gid = workshop.own.gid;
  }
  // In local use a workspace is the caller's own directory.
  if (workshop.floor.saves_machines) fences.filter = "strict+nosetid";
  // As high as can be, so that every plan's is lower; and there is one.
  fences.limits.processes = std::numeric_limits<std::uint32_t>::max();
  return fences;
}

}  // namespace

Status save_like(Workshop& workshop, const frame::Machine& machine, std::chrono::seconds patience) {
  const Floor& floor = workshop.floor;
  const TemplateKey key{.memory = machine.memory, .kvm = machine.kvm};
  if (workshop.machines.find(key, floor.machine, floor.qemu) != nullptr) return {};
  TRY_DO(workshop.machines.make_room(floor.machine, floor.qemu));
  frame::LaunchPlan plan = trial_plan(workshop, frame::Engine::machine);
  plan.machine = machine;
  plan.setup.fences = usual_fences(workshop);
  TRY(const JudgedPlan judged, judge_under_new_id(workshop, plan));
  TRY(MachineTemplate saved, save_machine(judged, workshop, patience));
  workshop.machines.add(key, std::move(saved));
  // Where it cannot be written it is made again by each.
  static_cast<void>(workshop.machines.keep(key, floor.machine, floor.qemu));
  return {};
}

// One that the processor runs stands within a second, or hangs.
std::chrono::seconds patience_with(const frame::Machine& machine) {
  return std::chrono::seconds{machine.kvm ? 3 : 60};
}

}  // namespace cordon::launcher
