// SPDX-License-Identifier: Apache-2.0
#include "plan/enforce.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/admit.h"
#include "plan/fencing.h"
#include "plan/patterns.h"
#include "plan/survey.h"
#include "record/quantity.h"

namespace cordon::plan {
namespace {

std::string sampled() { return fmt::format("sampled every {} ms", kSample.count()); }

// The rights that came with each ABI after the first.
struct LandlockStep {
  int abi;
  std::string_view right;
};
constexpr LandlockStep kLandlockSteps[] = {
    {2, "moves between directories"},    {3, "truncation"}, {4, "TCP ports"}, {5, "device ioctls"},
    {6, "abstract sockets and signals"}, {7, "audit"}};

class Enforcing {
 public:
  Enforcing(const Request& request, const frame::LaunchPlan& plan, const Files& files,
            const Limiting& limiting)
      : request_{request}, plan_{plan}, files_{files}, limiting_{limiting} {}

  Enforcement all() {
    engine();
    namespaces();
    fences();
    limits();
    disk();
    budgets();
    patterns();
    monitor();
    return std::move(enforcement_);
  }

 private:
  void say(std::string_view name, Hold hold, std::string detail) {
    enforcement_.mechanisms.push_back({std::string{name}, hold, std::move(detail)});
  }

  void engine() {
    if (plan_.engine == frame::Engine::none) return;
    const bool is_machine = plan_.engine == frame::Engine::machine;
    const Fact& fact = request_.host[is_machine ? Feature::microvm : Feature::gvisor];
    say("isolation", Hold::held,
        fmt::format("{}{}{}",
                    is_machine ? "microvm: a machine of its own" : "gvisor: a kernel of its own",
                    fact.detail.empty() ? "" : ", ", fact.detail));
  }

  void namespaces() {
    say("user_namespace", Hold::held, {});
    if (plan_.ids == frame::Ids::range) {
      say("ids", Hold::held, "a range of the sandbox's own; host directories are id-mapped");
    } else if (request_.host.has(Feature::id_ranges)) {
      say("ids", Hold::held, "the caller's own id; pid 1 has another");
    } else {
      say("ids", Hold::absent, "the caller's own id, which pid 1 shares");
    }
    say("mount_namespace", Hold::held, {});
    say("pid_namespace", Hold::held, {});
    say("ipc_namespace", Hold::held, {});
    say("uts_namespace", Hold::held, {});
    say("cgroup_namespace", Hold::held, {});
    if (plan_.network) {
      say("network", Hold::held, "cordon-egress decides each name, connection and request");
    } else {
      say("network", Hold::held,
          gives_up_network(request_) ? "none: what the policy allows was given up"
                                     : "none: loopback only");
    }
  }

  void fences() {
    const frame::Fences& fences = plan_.setup.fences;
    say("seccomp", Hold::held, fences.filter);
    say("no_new_privs", Hold::held, {});
    say("capabilities", Hold::held,
        fences.capabilities.empty() ? std::string{"none"}
                                    : fmt::format("{} of its own namespace",
                                                  fmt::join(request_.settings.capabilities, " ")));
    if (fences.landlock_abi == 0) {
      const Fact& fact = request_.host[Feature::landlock];
      std::string why = fact.detail.empty() ? "not on this host" : fact.detail;
      if (plan_.engine != frame::Engine::none) {
        why = plan_.engine == frame::Engine::gvisor
                  ? "gVisor has none; the file tree is fenced by its mounts"
                  : "not used in a machine; the file tree is fenced by its mounts";
      }
      say("landlock", Hold::absent, std::move(why));
      return;
    }
    std::string detail = fmt::format("ABI {}", fences.landlock_abi);
    std::vector<std::string_view> lacking;
    for (const LandlockStep& step : kLandlockSteps) {
      if (step.abi > fences.landlock_abi) lacking.push_back(step.right);
    }
    if (!lacking.empty()) detail += fmt::format(", without {}", fmt::join(lacking, ", "));
    say("landlock", Hold::held, std::move(detail));
  }

  void unlimited(std::string_view name) { say(name, Hold::absent, "not limited by the policy"); }

  void limits() {
    const policy::Limits& wanted = request_.settings.limits;
    if (plan_.engine == frame::Engine::machine) {
      say("memory", Hold::held,
          fmt::format("{}, the machine's own", to_size_text(plan_.machine.memory)));
    } else if (!wanted.memory) {
      unlimited("memory");
    } else if (limiting_.in_group.memory) {
      say("memory", Hold::held, to_size_text(*wanted.memory));
    } else {
      say("memory", Hold::supervised,
          fmt::format("{}, {}: no control group", to_size_text(*wanted.memory), sampled()));
    }
    if (!wanted.pids) {
      unlimited("pids");
    } else if (plan_.engine != frame::Engine::none) {
      say("pids", Hold::held, fmt::format("{}, of its user, by its own kernel", *wanted.pids));
    } else if (limiting_.in_group.pids) {
      say("pids", Hold::held, fmt::format("{}", *wanted.pids));
    } else {
      say("pids", Hold::held, fmt::format("{}, of its user in its own namespace", *wanted.pids));
    }
    if (!wanted.milli_cpus) {
      unlimited("cpu");
    } else if (limiting_.in_group.milli_cpus) {
      say("cpu", Hold::held,
          fmt::format("{} processor{}", static_cast<double>(*wanted.milli_cpus) / 1000,
                      *wanted.milli_cpus == 1000 ? "" : "s"));
    } else {
      say("cpu", Hold::absent, "no control group: processors are not limited here");
    }
    if (!wanted.open_files) {
      unlimited("open_files");
    } else {
      say("open_files", Hold::held, fmt::format("{} in a process", *wanted.open_files));
    }
    io(wanted.io);
  }

  void io(const std::optional<std::uint64_t>& wanted) {
    if (!wanted) return unlimited("io");
    if (request_.host.cgroup_layout == CgroupLayout::v2) {
      say("io", Hold::held,
          fmt::format("{} a second, each way, on each disk that it uses", to_size_text(*wanted)));
    } else {
      // A workload can go round it, so that it is not held.
      say("io", Hold::absent,
          fmt::format("{} a second for reads and direct writes; not buffered writes (cgroup v1)",
                      to_size_text(*wanted)));
    }
  }

  void disk() {
    const frame::Disk& disk = limiting_.disk;
    say("disk", Hold::held,
        fmt::format("{} {}", to_size_text(disk.bytes),
                    disk.image ? "in an image of its own" : "in memory"));
    say("inodes", Hold::held, fmt::format("{}", disk.inodes));
    if (files_.writes_to_host) workspace_disk();
  }

  void workspace_disk() {
    const std::uint64_t largest = limiting_.by_process.file_size;
    if (const auto& growth = limiting_.budgets.workspace) {
      const bool review = files_.workspace.kind == frame::WorkspaceKind::review;
      std::string detail =
          fmt::format("{} {}, counted every {} s, {} files at most", to_size_text(*growth),
                      review ? "in the layer of changes" : "more than at the start",
                      kWorkspaceSample.count(), kMostCounted);
      const bool others = std::ranges::any_of(files_.binds, &frame::Bind::writable);
      if (others) detail += "; other mounts are not counted";
      return say("workspace_disk", Hold::supervised, std::move(detail));
    }
    if (largest == 0) {
      return say("workspace_disk", Hold::absent,
                 "files of the host are written without a limit of bytes");
    }
    const bool too_many = files_.workspace.kind == frame::WorkspaceKind::live &&
                          !request_.situation.survey.workspace_bytes;
    say("workspace_disk", Hold::absent,
        fmt::format("no file larger than {}; their sum is not limited{}", to_size_text(largest),
                    too_many ? fmt::format(": there are more than {} files", kMostCounted) : ""));
  }

  void budgets() {
    const Budgets& budgets = limiting_.budgets;
    if (budgets.wall) {
      say("wall_time", Hold::supervised, fmt::format("{} s, by a timer", budgets.wall->count()));
    } else {
      unlimited("wall_time");
    }
    if (budgets.cpu) {
      say("cpu_time", Hold::supervised, fmt::format("{} s, {}", budgets.cpu->count(), sampled()));
    } else {
      unlimited("cpu_time");
    }
    if (budgets.output) {
      say("output", Hold::held,
          fmt::format("{}, counted as it is read", to_size_text(*budgets.output)));
    } else {
      unlimited("output");
    }
  }

  void pattern_line(std::string_view name, Cover cover, frame::PinKind kind,
                    const std::vector<Pattern>& patterns) {
    const auto stated = std::ranges::count(patterns, cover, &Pattern::cover);
    if (stated == 0) return;
    const bool all_literal = std::ranges::all_of(patterns, [&](const Pattern& pattern) {
      return pattern.cover != cover || pattern.literal;
    });
    const auto pinned = std::ranges::count(files_.workspace.pins, kind, &frame::Pin::kind);
    std::string detail = fmt::format("{} path{} pinned", pinned, pinned == 1 ? "" : "s");
    if (!all_literal) {
      detail += "; names that appear later are not held";
      if (cover == Cover::hide) detail += ", nor is the system's own tree searched";
    }
    say(name, all_literal ? Hold::held : Hold::at_launch, std::move(detail));
  }

  void patterns() {
    const auto patterns = patterns_of(request_.policy, request_.workspace);
    pattern_line("hide", Cover::hide, frame::PinKind::hide, patterns);
    pattern_line("protect", Cover::protect, frame::PinKind::read_only, patterns);
    if (!request_.settings.review) return;
    const bool waits = files_.workspace.kind == frame::WorkspaceKind::review;
    say("review", Hold::held,
        waits ? "changes wait in a layer of their own"
              : "the workspace is ephemeral: nothing of it is kept");
  }

  // Of the classes that are seen.
  std::string_view unseen() const {
    switch (request_.situation.monitor) {
      case MonitorSource::witness:
        return "; not what is only read, nor refused calls";
      case MonitorSource::engine:
        return "; not what is renamed or removed, nor refused calls";
      case MonitorSource::none:
      case MonitorSource::kernel:
      case MonitorSource::machine:
        break;
    }
    return "";
  }

  // Refusals always, the rest as the policy says; admit_keys() has refused what nobody would see.
  void monitor() {
    if (request_.situation.monitor == MonitorSource::none) return;
    std::vector<std::string> wanted{"refused"};
    for (const auto& checked : request_.policy.documents()) {
      for (const auto& stated : checked->document().record.items) {
        if (std::ranges::find(wanted, stated.value) == wanted.end()) {
          wanted.push_back(stated.value);
        }
      }
    }
    std::ranges::sort(wanted);
    say("monitor", Hold::held, fmt::format("{}{}", fmt::join(wanted, " "), unseen()));
    enforcement_.reported = std::move(wanted);
  }

  const Request& request_;
  const frame::LaunchPlan& plan_;
  const Files& files_;
  const Limiting& limiting_;
  Enforcement enforcement_;
};

}  // namespace

Enforcement enforcement_of(const Request& request, const frame::LaunchPlan& plan,
                           const Files& files, const Limiting& limiting) {
  return Enforcing{request, plan, files, limiting}.all();
}

}  // namespace cordon::plan
