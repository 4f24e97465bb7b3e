// SPDX-License-Identifier: Apache-2.0
// The addresses of this machine, as its network namespace has them now.
#pragma once

#include <vector>

#include "base/result.h"
#include "os/ip_address.h"

namespace cordon::os {

Result<std::vector<IpAddress>> own_addresses();

}  // namespace cordon::os
