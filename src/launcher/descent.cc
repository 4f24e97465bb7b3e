// SPDX-License-Identifier: Apache-2.0
#include "launcher/descent.h"

#include <array>
#include <fcntl.h>
#include <linux/capability.h>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <span>
#include <unistd.h>
#include <vector>

#include "launcher/engine.h"
#include "launcher/identity.h"
#include "launcher/root.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/identity.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/proc_fence.h"
#include "os/process.h"
#include "os/seccomp.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

struct Step {
  std::string_view name;
  Status (*take)(Descent& descent);
};

// A launcher that dies before cordon-init stands takes its child along. It is looked for
// afterwards: it may have died before the signal was set, and in a new pid namespace every parent
// is 0.
Status die_with_launcher(Descent& descent) {
  TRY_DO(os::set_parent_death_signal(SIGKILL));
  pollfd end{.fd = descent.launcher.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, 0) != 0) return Error{Errc::unavailable, "the launcher has ended"};
  return {};
}

Status enter_groups(Descent& descent) { return descent.groups.enter(); }

Status enter_network(Descent& descent) { return os::setns(descent.network, os::Ns::net); }

Status build_tree(Descent& descent) {
  const JudgedPlan& plan = *descent.plan;
  TRY(Ground ground, lay_ground(ground_plan(plan, descent.ids, descent.sources)));
  TRY_DO(furnish(ground, plan, descent.ids, descent.sources));
  TRY_DO(enter_root(ground.root));
  TRY_DO(keep_mounts_apart());
  descent.namespace_limits = std::move(ground.limits);
  return {};
}

// The launcher furnishes it when the plan has come.
Status build_ground(Descent& descent) {
  const os::Fd none;
  TRY(Ground ground, lay_ground({.disk = kBerthDisk, .image = none, .own = kBerthDirectories}));
  TRY_DO(enter_root(ground.root));
  std::vector<const os::Fd*> own;
  own.reserve(ground.own.size());
  for (const os::Fd& tree : ground.own) own.push_back(&tree);
  const std::array<std::byte, 1> word{};
  TRY_DO(os::send(descent.reports, word, own));
  descent.namespace_limits = std::move(ground.limits);
  return {};
}

Status name_host(Descent& descent) { return os::sethostname((*descent.plan)->host_name); }

// After enter_groups: the namespace shows the groups that we are in now as the top.
Status hide_groups(Descent&) { return os::unshare(os::Ns::cgroup); }

// From here on no capability of ours reaches mounts, groups, the host name or the network: they
// belong to the launcher's user namespace.
Status enter_user_namespace(Descent& descent) {
  return os::setns(descent.user_namespace, os::Ns::user);
}

Status forbid_more_namespaces(Descent& descent) {
  TRY_DO(os::forbid_namespaces(descent.namespace_limits));
  descent.namespace_limits = os::Fd{};
  return {};
}

Status become_init(Descent& descent) {
  TRY_DO(os::set_keep_capabilities(true));
  if (descent.may_set_groups) TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(kInitId));
  TRY_DO(os::set_user(kInitId));
  // A change of ids has cleared it.
  return die_with_launcher(descent);
}

Status become_caller(Descent& descent) {
  const frame::Fences& fences = descent.fences;
  TRY_DO(os::set_keep_capabilities(true));
  if (descent.may_set_groups) TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(fences.gid));
  TRY_DO(os::set_user(fences.uid));
  return die_with_launcher(descent);
}

Status take_identity(Descent& descent) {
  const bool one_id = descent.ids.init_uid == descent.ids.workload_uid;
  return one_id ? become_caller(descent) : become_init(descent);
}

Status keep_few_capabilities(Descent& descent) {
  std::uint64_t granted = 0;
  for (const std::uint32_t capability : descent.fences.capabilities) {
    granted |= std::uint64_t{1} << capability;
  }
  // Of these pid 1 needs the first three for its spawners; a workload has what is granted, and the
  // bounding set lets no exec have more.
  const std::uint64_t kept = os::CapabilitySet{CAP_SETUID, CAP_SETGID, CAP_KILL}.bits() | granted;
  return os::keep_across_exec(os::CapabilitySet::from_bits(kept),
                              os::CapabilitySet::from_bits(granted));
}

Status give_up_gaining(Descent&) { return os::set_no_new_privs(); }

// Here, and not with each spawner's own rules: programs of one sandbox that were started one by one
// are to reach each other, and nobody else. A ruleset that says nothing of links between
// directories refuses them: this one leaves them to the spawner's.
Status keep_to_itself(Descent& descent) {
  const int abi = descent.fences.landlock_abi;
  const std::uint64_t scopes = os::landlock_rights_of(abi).scopes;
  if (scopes == 0) return {};
  TRY(const auto rules,
      os::LandlockRuleset::create({.fs = os::abi::kFsRefer, .scopes = scopes}, abi));
  TRY(const os::Fd root, os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY));
  TRY_DO(rules.add_path(root, os::abi::kFsRefer));
  return rules.restrict_self();
}

constexpr int kControl = 3;
constexpr int kWitness = 4;

Status place(int from, int to) {
  if (::dup3(from, to, 0) != to) return Error::from_errno("dup3");
  return {};
}

// 0, 1 and 2 are the sandbox's own /dev/null, 3 is the stream, 4 the way of a filter's listener;
// all else ends at exec.
Status close_descriptors(Descent& descent) {
  TRY(const os::Fd null, os::openat(os::at_cwd(), "/dev/null", O_RDWR));
  // dup3 refuses to copy a descriptor onto itself, and `control` may be any number.
  TRY(const os::Fd control, os::duplicate(descent.control));
  os::Fd witness;
  if (descent.witness) {
    TRY(witness, os::duplicate(descent.witness));
  }
  for (const int standard : {0, 1, 2}) TRY_DO(place(null.get(), standard));
  TRY_DO(place(control.get(), kControl));
  if (!witness) return os::set_cloexec_from(kControl + 1);
  TRY_DO(place(witness.get(), kWitness));
  return os::set_cloexec_from(kWitness + 1);
}

Status await_program(Descent& descent) { return descent.program.await(); }

Status load_init_filter(Descent&) {
  return os::seccomp_load(os::filter_program(os::FilterProfile::init));
}

// Each step gives up what the steps below no longer need; the order is the security argument.
constexpr std::array kIntoNamespaces = {
    Step{"parent", die_with_launcher},
    Step{"groups", enter_groups},
    Step{"network", enter_network},
};
// The last that need CAP_SYS_ADMIN over the launcher's namespace: with a plan, and without one yet.
constexpr std::array kPlansTree = {Step{"root", build_tree}, Step{"host name", name_host}};
constexpr std::array kBareTree = {Step{"root", build_ground}};
constexpr std::array kToInit = {
    Step{"cgroup namespace", hide_groups},
    Step{"user namespace", enter_user_namespace},
    Step{"namespace limits", forbid_more_namespaces},
    Step{"identity", take_identity},
    Step{"descriptors", close_descriptors},
    Step{"capabilities", keep_few_capabilities},
    Step{"no_new_privs", give_up_gaining},
    Step{"scope", keep_to_itself},  // signals and abstract sockets end at the sandbox
    Step{"program", await_program},
    Step{"filter", load_init_filter},  // nothing but exec may follow
};

// Behind an engine. What the launcher's child becomes has nothing left but five or six
// descriptors.
Status drop_capabilities(Descent&) { return os::keep_none(); }

constexpr std::array kBehindEngine = {
    Step{"parent", die_with_launcher},
    Step{"groups", enter_groups},
    Step{"network", enter_engine_network},
    Step{"root", build_engine_tree},
    Step{"host name", name_host},
    Step{"cgroup namespace", hide_groups},
    Step{"user namespace", enter_user_namespace},
    Step{"engine", start_engine},  // the last that needs a capability of the sandbox's namespace
    Step{"identity", take_identity},
    Step{"descriptors", place_relay_descriptors},
    Step{"capabilities", drop_capabilities},
    Step{"no_new_privs", give_up_gaining},
};

constexpr std::array kInMachine = {
    Step{"parent", die_with_launcher},
    Step{"groups", enter_groups},
    Step{"network", enter_machine_network},
    Step{"root", build_machine_trees},
    Step{"host name", name_host},
    Step{"cgroup namespace", hide_groups},
    Step{"user namespace", enter_user_namespace},
    Step{"machine", start_machine},
    Step{"identity", take_identity},
    Step{"descriptors", place_relay_descriptors},
    Step{"capabilities", drop_capabilities},
    Step{"no_new_privs", give_up_gaining},
};

const char* relay_word(MachineStart start) {
  switch (start) {
    case MachineStart::save:
      return "save";
    case MachineStart::load:
      return "load";
    case MachineStart::cold:
      break;
  }
  return "carry";
}

std::optional<FailedStep> take_all(std::span<const Step> steps, Descent& descent) {
  for (const Step& step : steps) {
    Status taken = step.take(descent);
    if (!taken) return FailedStep{step.name, std::move(taken).error()};
  }
  return std::nullopt;
}

}  // namespace

std::string to_report(const FailedStep& failed) {
  const int number = failed.error.cause() ? failed.error.cause().value() : 0;
  return std::string{failed.step} + "\n" + std::to_string(number) + "\n" + failed.error.text();
}

FailedStep descend(Descent& descent) {
  if (descent.engine != nullptr) {
    const bool is_machine = descent.engine->machine.has_value();
    const std::span<const Step> steps =
        is_machine ? std::span<const Step>{kInMachine} : std::span<const Step>{kBehindEngine};
    if (auto failed = take_all(steps, descent)) return *std::move(failed);
    std::vector<std::string> arguments{"cordon-relay"};
    if (is_machine) arguments.emplace_back(relay_word(descent.engine->machine->start));
    return {"exec", os::execveat(descent.relay, arguments, {})};
  }
  const std::span<const Step> tree = descent.plan != nullptr ? std::span<const Step>{kPlansTree}
                                                             : std::span<const Step>{kBareTree};
  for (const std::span<const Step> part :
       {std::span<const Step>{kIntoNamespaces}, tree, std::span<const Step>{kToInit}}) {
    if (auto failed = take_all(part, descent)) return *std::move(failed);
  }
  const std::array<std::string, 1> arguments{"cordon-init"};
  return {"exec", os::execveat(descent.program.file(), arguments, {})};
}

}  // namespace cordon::launcher
