// SPDX-License-Identifier: Apache-2.0
// Who asks, and on what system.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "record/host_facts.h"

namespace cordon::os {

struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  bool root = false;  // uid 0 of the initial user namespace
};
Caller probe_caller();

// Fills in kernel, machine and system.
void probe_identity(HostFacts& host);

// PRETTY_NAME of an os-release file, or empty.
std::string pretty_name(std::string_view os_release);

// The login name of `uid` in the text of /etc/passwd, or empty. Not getpwuid, which loads shared
// libraries even into static programs.
std::string login_name(std::string_view passwd, uid_t uid);

}  // namespace cordon::os
