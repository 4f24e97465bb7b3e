// SPDX-License-Identifier: Apache-2.0
// How a server proves that it meant a WebSocket handshake.
#pragma once

#include <string>
#include <string_view>

namespace cordon::http {

// Sec-WebSocket-Accept for the Sec-WebSocket-Key `key`.
std::string accepted_key(std::string_view key);

}  // namespace cordon::http
