// SPDX-License-Identifier: Apache-2.0
// How long a terminated connection waits for what.
#pragma once

#include <chrono>

namespace cordon::egress {

struct HttpTimes {
  std::chrono::nanoseconds handshake = std::chrono::seconds{10};  // of TLS, in all
  std::chrono::nanoseconds head = std::chrono::seconds{30};       // of a request, in all
  std::chrono::nanoseconds idle = std::chrono::seconds{120};      // without a byte either way
  std::chrono::nanoseconds linger = std::chrono::seconds{2};      // for a client to read why
};

}  // namespace cordon::egress
