// SPDX-License-Identifier: Apache-2.0
#include "launcher/save_like.h"

#include "launcher/trial_sandbox.h"

namespace cordon::launcher {

Status save_like(Workshop& workshop, const frame::Machine& machine, std::chrono::seconds patience) {
  const Floor& floor = workshop.floor;
  const TemplateKey key{.memory = machine.memory, .kvm = machine.kvm};
  if (workshop.machines.find(key, floor.machine, floor.qemu) != nullptr) return {};
  TRY_DO(workshop.machines.make_room(floor.machine, floor.qemu));
  frame::LaunchPlan plan = trial_plan(workshop, frame::Engine::machine);
  plan.machine = machine;
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
