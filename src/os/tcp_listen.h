// SPDX-License-Identifier: Apache-2.0
// A socket that listens over TCP.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"
#include "os/ip_address.h"

namespace cordon::os {

// Does not block. Port 0: one that is free. An address that was used a moment ago may be used
// again.
Result<Fd> tcp_listen(const IpAddress& address, std::uint16_t port);

}  // namespace cordon::os
