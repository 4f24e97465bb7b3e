// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launcher/engine_trial.h"
#include "launcher/machine.h"
#include "launcher/save_like.h"
#include "launcher/trial_sandbox.h"

namespace cordon::launcher {
namespace {

constexpr const char* kRemedy = "apt install qemu-system-x86 linux-image-cloud-amd64";

struct Works {
  bool traces = false;
};

Result<Works> try_accelerator(Workshop& workshop, bool kvm) {
  frame::LaunchPlan plan = trial_plan(workshop, frame::Engine::machine);
  plan.machine = {.memory = frame::kUsualMachine, .kvm = kvm};
  const std::chrono::seconds patience = patience_with(plan.machine);
  Status saved = save_like(workshop, plan.machine, patience);
  if (!saved && saved.error().code() == Errc::timeout) return std::move(saved).error();
  plan.traced = true;
  if (auto tried = try_plan(workshop, plan, {}, patience)) return Works{.traces = true};
  // One whose kernel takes no recorder may be well without.
  plan.traced = false;
  TRY_DO(try_plan(workshop, plan, {}, patience));
  return Works{};
}

std::string lacking(const Works& works) {
  return works.traces ? "" : "; no monitor.record (its kernel takes no recorder)";
}

}  // namespace

EngineTrial try_machine(Workshop& workshop) {
  const Floor& floor = workshop.floor;
  if (floor.qemu.empty()) return {{Support::absent, "the floor names no qemu", {}}, {}};
  if (floor.machine.empty()) return {{Support::absent, "the floor names no machine", {}}, {}};
  if (const auto parts = open_machine(floor.qemu, floor.machine, false, workshop.pins); !parts) {
    const bool is_there = ::access(floor.qemu.c_str(), F_OK) == 0;
    return {
        {is_there ? Support::blocked : Support::absent, in_one_line(parts.error().text()), kRemedy},
        {}};
  }
  // As somebody with no other right to it: a machine's monitor has none.
  const bool has_device = ::access("/dev/kvm", R_OK | W_OK) == 0;
  std::string without = has_device ? "" : "no /dev/kvm";
  if (has_device) {
    const auto helped = try_accelerator(workshop, true);
    if (helped)
      return {{Support::ok, "QEMU with KVM" + lacking(*helped), {}}, "kvm", helped->traces};
    without = "KVM: " + in_one_line(helped.error().text());
  }
  const auto translated = try_accelerator(workshop, false);
  if (translated) {
    return {{Support::limited,
             fmt::format("QEMU without KVM, slow ({}){}", without, lacking(*translated)),
             {}},
            "tcg",
            translated->traces};
  }
  return {{Support::blocked,
           fmt::format("no machine starts: {}", in_one_line(translated.error().text())),
           {}},
          {}};
}

}  // namespace cordon::launcher
