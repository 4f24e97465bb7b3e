// SPDX-License-Identifier: Apache-2.0
// The list of experiments, started together and collected under one deadline.
#include "os/probe_host.h"

#include <signal.h>
#include <vector>

#include "os/probe_capacity.h"
#include "os/probe_cgroup.h"
#include "os/probe_disk.h"
#include "os/probe_fences.h"
#include "os/probe_files.h"
#include "os/probe_identity.h"
#include "os/probe_namespaces.h"
#include "os/probe_network.h"
#include "os/probe_process.h"
#include "os/probe_trial.h"

namespace cordon::os {
namespace {

// Holds signals back: whoever interrupts us must not leave our groups behind. Children inherit it,
// so that writing to a pipe whose reader died is an error and not a death.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::sigaddset(&held, signal);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct Probe {
  Feature feature;
  Experiment experiment;
};

std::vector<Probe> probes(const Caller& caller, const TrialLimit& limit) {
  return {
      {Feature::user_namespaces, [=] { return probe_user_namespaces(caller, limit); }},
      {Feature::id_ranges, [=] { return probe_id_ranges(caller, limit); }},
      {Feature::namespaces, [=] { return probe_other_namespaces(caller, limit); }},
      {Feature::mount_api, [=] { return probe_mount_api(caller, limit); }},
      {Feature::idmapped_mounts, [=] { return probe_idmapped_mounts(caller, limit); }},
      {Feature::overlay, [=] { return probe_overlay(caller, limit); }},
      {Feature::disk_images, [=] { return probe_disk_images(caller); }},
      {Feature::seccomp, probe_seccomp},
      {Feature::seccomp_notify, [=] { return probe_seccomp_notify(limit); }},
      {Feature::landlock, probe_landlock},
      {Feature::pidfd, [=] { return probe_pidfd(limit); }},
      {Feature::openat2, probe_openat2},
      {Feature::network_filter, [=] { return probe_network_filter(caller, limit); }},
  };
}

// What an experiment could not reach for want of a user namespace is told as that.
void name_the_common_cause(HostFacts& host) {
  const Fact& cause = host[Feature::user_namespaces];
  if (cause.support == Support::ok || is_late(cause)) return;
  for (const Feature feature :
       {Feature::id_ranges, Feature::namespaces, Feature::mount_api, Feature::idmapped_mounts,
        Feature::overlay, Feature::network_filter}) {
    Fact& fact = host[feature];
    if (fact.detail == cause.detail) fact = {cause.support, "needs user namespaces", cause.remedy};
  }
}

}  // namespace

HostFacts probe_host(const ProbeOptions& options) {
  const SignalsHeld held;
  const Caller caller = probe_caller();
  const TrialLimit limit{std::chrono::steady_clock::now() + options.limit, options.limit};
  HostFacts host;
  host.root = caller.root;
  for (Fact& fact : host.facts) fact.detail = "not probed by this version";

  struct Running {
    Feature feature;
    Trial trial;
  };
  std::vector<Running> running;
  for (const Probe& probe : probes(caller, limit)) {
    running.push_back({probe.feature, Trial::start(probe.experiment)});
  }
  // While the children work:
  probe_identity(host);
  host.capacity = probe_capacity(caller, limit);
  host.landlock_abi = probe_landlock_abi();
  CgroupFindings groups = probe_cgroup(caller, limit);
  host.cgroup_layout = groups.layout;
  host.controllers = std::move(groups.controllers);
  host[Feature::cgroup] = std::move(groups.limits);
  host[Feature::cgroup_kill] = std::move(groups.kill);

  for (Running& each : running) {
    host[each.feature] = std::move(each.trial).finish(limit);
  }
  name_the_common_cause(host);
  return host;
}

}  // namespace cordon::os
