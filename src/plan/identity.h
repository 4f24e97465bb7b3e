// SPDX-License-Identifier: Apache-2.0
// Who the workload is inside, and the files that say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/launch_plan.h"
#include "plan/request.h"

namespace cordon::plan {

struct Identity {
  frame::Ids ids = frame::Ids::caller;
  std::uint32_t uid = 0;  // inside
  std::uint32_t gid = 0;
  std::string name;
  std::string home;  // inside; on the sandbox's own disk
};

// As root a range of ids of the sandbox's own, otherwise the caller's id. With the caller's id, and
// the host's programs, name and home are the caller's too, so that a workspace below the home lies
// where its owner is used to see it; nothing of the real home is there. Otherwise the name is
// "user" and the home /home/user, or /root for id 0.
Identity identity_of(const Request& request, bool host_root);

// /etc/passwd, group, hosts, hostname, nsswitch.conf and resolv.conf of `root = "host"`: nothing in
// them comes from the host but a name.
std::vector<frame::OwnFile> own_files(const Identity& identity, const std::string& host_name,
                                      bool network);

}  // namespace cordon::plan
