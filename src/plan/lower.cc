// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/admit.h"
#include "plan/enforce.h"
#include "plan/environment.h"
#include "plan/fencing.h"
#include "plan/files.h"
#include "plan/identity.h"
#include "plan/ingress.h"
#include "plan/network.h"
#include "plan/path_rules.h"
#include "plan/responses.h"
#include "record/quantity.h"

namespace cordon::plan {
namespace {

void check_size(const Request& request, const frame::LaunchPlan& plan) {
  const std::size_t size = encode(plan).size();
  if (size <= frame::kLongestPlan) return;
  request.refusals.add(
      Errc::exhausted, "SIZE",
      {.tried = fmt::format("{} hidden or protected paths", plan.workspace.pins.size()),
       .rule = "default",
       .why = fmt::format("the plan has {}, more than the {} that a launcher takes; name "
                          "directories instead of files",
                          to_size_text(size), to_size_text(frame::kLongestPlan)),
       .fix = {}});
}

bool asks_for_monitor(const policy::Policy& policy) {
  return std::ranges::any_of(policy.documents(), [](const auto& checked) {
    const policy::PolicyDocument& document = checked->document();
    return !document.record.items.empty() || std::ranges::any_of(document.responses, needs_monitor);
  });
}

bool is_told(const Situation& situation) {
  return situation.monitor == MonitorSource::engine || situation.monitor == MonitorSource::machine;
}

// A kernel of its own tells the host's nothing of what its programs do; where it tells us itself,
// each act costs it a message, so that it is asked only by a policy that wants to know.
Situation as_seen(Situation situation, const policy::Policy& policy) {
  const bool is_process = policy.settings().isolation == Isolation::process;
  const bool by_engine = is_told(situation);
  if (is_process == by_engine || (by_engine && !asks_for_monitor(policy))) {
    situation.monitor = MonitorSource::none;
  }
  return situation;
}

// One of them: each tells how full the disk is. A machine has its /dev/shm in its own memory.
std::string on_own_disk(const frame::LaunchPlan& plan) {
  const bool is_machine = plan.engine == frame::Engine::machine;
  const auto found = std::ranges::find_if(plan.directories, [&](const std::string& directory) {
    return !is_machine || !directory.starts_with("/dev/");
  });
  return found != plan.directories.end() ? *found : plan.directories.front();
}

void choose_engine(const Request& request, frame::LaunchPlan& plan) {
  plan.traced = is_told(request.situation);
  if (request.settings.isolation == Isolation::microvm) {
    plan.engine = frame::Engine::machine;
    plan.machine = {.memory = machine_memory(request.settings.limits),
                    .kvm = request.host.accelerator == "kvm"};
  }
  if (request.settings.isolation != Isolation::gvisor) return;
  plan.engine = frame::Engine::gvisor;
  plan.platform =
      frame::platform_from(request.host.gvisor_platform).value_or(frame::Platform::ptrace);
}

}  // namespace

Result<Lowered> lower(const policy::Policy& policy, const HostFacts& host,
                      const Situation& situation, std::vector<Denial>* refusals) {
  Refusals found;
  const Situation known = as_seen(situation, policy);
  const Request request{.policy = policy,
                        .host = host,
                        .situation = known,
                        .refusals = found,
                        .settings = policy.settings(),
                        .workspace = workspace_of(policy, situation, found)};
  admit(request);
  const Root root = root_of(request);
  const Identity identity = identity_of(request, root.source == frame::RootSource::host);
  Files files = files_of(request, root, identity);
  const Limiting limiting = limits_of(request, files);

  Lowered lowered;
  frame::LaunchPlan& plan = lowered.plan;
  plan.id = situation.id.text();
  choose_engine(request, plan);
  plan.namespaces = frame::kNamespaces;
  plan.no_new_privs = true;
  plan.network = !is_offline(request);
  if (plan.network) lowered.network = serve_of(policy, plan.id);
  if (plan.network) plan.tenant = situation.tenant;
  plan.ids = identity.ids;
  plan.root = root.source;
  plan.root_path = root.path;
  plan.root_file = root.file;
  plan.root_layer = root.has_layer;
  plan.setup.fences = fences_of(request, root, files, identity);
  plan.setup.fences.limits = limiting.by_process;
  lowered.enforcement = enforcement_of(request, plan, files, limiting);
  plan.binds = std::move(files.binds);
  plan.files = std::move(files.files);
  plan.directories = std::move(files.directories);
  plan.homes = std::move(files.homes);
  plan.setup.disk = on_own_disk(plan);
  plan.workspace = std::move(files.workspace);
  plan.disk = limiting.disk;
  plan.groups = limiting.groups;
  plan.limits = limiting.in_group;
  lowered.budgets = limiting.budgets;
  lowered.environment = environment_of(request, identity, root.environment);
  lowered.directory = plan.workspace.target;
  if (!root.image.empty()) {
    const bool is_file = root.source == frame::RootSource::erofs;
    lowered.enforcement.mechanisms.push_back(
        {"root", is_file ? Hold::held : Hold::at_launch,
         fmt::format("image {}; {}{}", root.image,
                     is_file ? "its EROFS is checked when it is mounted"
                             : "a directory, checked when it was made",
                     root.has_layer ? "; what is written to it goes to a layer on the own disk, "
                                      "and Landlock leaves files of it open"
                                    : "")});
  }
  if (situation.has_tunnels) {
    lowered.ingress = ingress_of(policy);
    lowered.enforcement.mechanisms.push_back(ingress_mechanism(lowered.ingress));
  }
  if (known.monitor != MonitorSource::none)
    lowered.paths = path_rules_of(policy, situation.default_image);
  lowered.responses = responses_of(policy);
  if (!lowered.responses.empty()) {
    lowered.enforcement.mechanisms.push_back(response_mechanism(lowered.responses));
  }
  check_size(request, plan);

  if (refusals != nullptr) *refusals = found.all();
  if (!found.empty()) return found.to_error();
  return lowered;
}

}  // namespace cordon::plan
