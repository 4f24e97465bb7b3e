// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launcher/engine_trial.h"
#include "launcher/machine.h"
#include "launcher/trial_sandbox.h"

namespace cordon::launcher {
namespace {

// A machine that the processor runs stands within a second, or hangs.
constexpr std::chrono::seconds kWithHelp{3};
constexpr std::chrono::seconds kTranslated{60};
constexpr const char* kRemedy = "apt install qemu-system-x86 linux-image-cloud-amd64";

// Of the usual size, once, and for launchers to come: a machine that began as it is there at once.
Status save_usual(Workshop& workshop, const frame::LaunchPlan& plan,
                  std::chrono::seconds patience) {
  const Floor& floor = workshop.floor;
  const TemplateKey key{.memory = plan.machine.memory, .kvm = plan.machine.kvm};
  if (workshop.machines.find(key, floor.machine, floor.qemu) != nullptr) return {};
  TRY(const JudgedPlan judged, judged_trial(workshop, plan));
  TRY(MachineTemplate saved, save_machine(judged, workshop, patience));
  workshop.machines.add(key, std::move(saved));
  // Where it cannot be written it is made again by each.
  static_cast<void>(workshop.machines.keep(key, floor.machine, floor.qemu));
  return {};
}

Status try_accelerator(Workshop& workshop, bool kvm) {
  frame::LaunchPlan plan = trial_plan(workshop, frame::Engine::machine);
  plan.machine = {.memory = frame::kUsualMachine, .kvm = kvm};
  const std::chrono::seconds patience = kvm ? kWithHelp : kTranslated;
  Status saved = save_usual(workshop, plan, patience);
  if (!saved && saved.error().code() == Errc::timeout) return saved;
  TRY_DO(try_plan(workshop, plan, {}, patience));
  return {};
}

}  // namespace

EngineTrial try_machine(Workshop& workshop) {
  const Floor& floor = workshop.floor;
  if (floor.qemu.empty()) return {{Support::absent, "the floor names no qemu", {}}, {}};
  if (floor.machine.empty()) return {{Support::absent, "the floor names no machine", {}}, {}};
  if (const auto parts = open_machine(floor.qemu, floor.machine, false); !parts) {
    const bool is_there = ::access(floor.qemu.c_str(), F_OK) == 0;
    return {
        {is_there ? Support::blocked : Support::absent, in_one_line(parts.error().text()), kRemedy},
        {}};
  }
  // As somebody with no other right to it: a machine's monitor has none.
  const bool has_device = ::access("/dev/kvm", R_OK | W_OK) == 0;
  std::string without = has_device ? "" : "no /dev/kvm";
  if (has_device) {
    const Status helped = try_accelerator(workshop, true);
    if (helped) return {{Support::ok, "QEMU with KVM", {}}, "kvm"};
    without = "KVM: " + in_one_line(helped.error().text());
  }
  const Status translated = try_accelerator(workshop, false);
  if (translated) {
    return {{Support::limited, fmt::format("QEMU without KVM, slow ({})", without), {}}, "tcg"};
  }
  return {{Support::blocked,
           fmt::format("no machine starts: {}", in_one_line(translated.error().text())),
           {}},
          {}};
}

}  // namespace cordon::launcher
