// SPDX-License-Identifier: Apache-2.0
#include "os/identity.h"

#include <grp.h>
#include <string>
#include <unistd.h>

namespace cordon::os {

Status set_user(uid_t uid) {
  if (::setresuid(uid, uid, uid) != 0) {
    return Error::from_errno("setresuid").with(std::to_string(uid));
  }
  return {};
}

Status set_group(gid_t gid) {
  if (::setresgid(gid, gid, gid) != 0) {
    return Error::from_errno("setresgid").with(std::to_string(gid));
  }
  return {};
}

Status set_groups(std::span<const gid_t> groups) {
  if (::setgroups(groups.size(), groups.data()) != 0) return Error::from_errno("setgroups");
  return {};
}

}  // namespace cordon::os
