// SPDX-License-Identifier: Apache-2.0
// Accepting on a listener of any family, and who it is that came.
#pragma once

#include <optional>

#include "base/result.h"
#include "os/fd.h"
#include "os/ip_address.h"

namespace cordon::os {

// The socket does not block.
struct Arrival {
  Fd socket;
  std::optional<IpAddress> address;  // of TCP; of IPv4 as such, though the listener is of IPv6
};

// What is there already; where nothing is, the cause is EAGAIN. The listener does not block.
Result<Arrival> accept_now(const Fd& listener);

// Whether connections come over TCP; else they are of the Unix domain. Anything else is refused.
Result<bool> is_tcp_listener(const Fd& listener);

// What is written to sockets that come from this one goes out at once: they inherit it.
Status set_no_delay(const Fd& listener);

}  // namespace cordon::os
