// SPDX-License-Identifier: Apache-2.0
#include "guest/init_id.h"

#include "frame/fences.h"
#include "os/capability.h"
#include "os/identity.h"

namespace cordon::guest {

Status take_init_id() {
  TRY_DO(os::set_keep_capabilities(true));
  TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(frame::kInitId));
  return os::set_user(frame::kInitId);
}

Status leave_root() {
  TRY_DO(take_init_id());
  TRY(const os::HeldCapabilities now, os::held_capabilities());
  // The bounding set is what the bundle says: no more than that, and pid 1 may not change it.
  return os::hold_exactly(now.permitted);
}

}  // namespace cordon::guest
