// SPDX-License-Identifier: Apache-2.0
// Processes that wait, each in namespaces and groups like a sandbox's, and nothing else.
#pragma once

#include <csignal>
#include <deque>
#include <memory>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "launcher/group_reclaim.h"
#include "launcher/groups.h"
#include "node/link.h"
#include "os/cgroup_layout.h"
#include "os/namespace.h"
#include "os/process.h"

namespace cordon::bench {

// What the kernel's part of an idle sandbox costs by itself.
class BareSets {
 public:
  void make(int count, bool memory) {
    if (!trees_)
      trees_ = std::make_shared<const launcher::GroupTrees>(
          launcher::GroupTrees::open(need(os::read_cgroup_trees(), "groups")));
    for (; count > 0; --count) {
      auto groups = need(
          launcher::SandboxGroups::prepare(
              trees_, need(launcher::group_name(in_letters(++last_)), "name"), {.memory = memory}),
          "groups");
      auto child =
          need(os::Child::start({.namespaces = os::NsSet{os::Ns::user, os::Ns::mount, os::Ns::pid,
                                                         os::Ns::ipc, os::Ns::uts, os::Ns::net},
                                 .cgroup = groups.v2_dir()},
                                [&] {
                                  if (!groups.enter() || !os::unshare(os::Ns::cgroup)) return 1;
                                  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                                  static_cast<void>(os::close_from(0));
                                  for (;;) ::pause();
                                }),
               "clone");
      groups.rest();
      sets_.emplace_back(std::move(groups), std::move(child));
    }
  }
  void drop() { sets_.clear(); }

 private:
  launcher::Trees trees_;
  std::deque<std::pair<launcher::SandboxGroups, os::Child>> sets_;  // the process goes first
  unsigned last_ = 0;
};

}  // namespace cordon::bench
