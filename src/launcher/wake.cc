// SPDX-License-Identifier: Apache-2.0
#include "launcher/wake.h"

#include "base/bytes.h"
#include "launcher/tell.h"
#include "os/random.h"

namespace cordon::launcher {

Status wake(const os::Fd& control, const frame::LaunchPlan& plan) {
  TRY(const auto seed, os::random_bytes<frame::kSeedBytes>());
  return tell(control, frame::Wake{.host_name = plan.host_name,
                                   .seed = std::string{as_text(seed)},
                                   .clock = 0,  // told by the relay, when the machine can hear it
                                   .network = plan.network,
                                   .traced = plan.traced});
}

}  // namespace cordon::launcher
