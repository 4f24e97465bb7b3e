// SPDX-License-Identifier: Apache-2.0
// Pages in a browser, which any site can show, may not speak to a node unless they were named.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/head.h"

namespace cordon::gate {

// Whose page asks for an upgrade: browsers say it of every WebSocket, and hold none back by
// themselves. Programs that are no browser say nothing. `denied`: it is none of `allowed`.
Status check_origin(const http::RequestHead& head, const std::vector<std::string>& allowed);

}  // namespace cordon::gate
