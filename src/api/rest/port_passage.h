// SPDX-License-Identifier: Apache-2.0
// A request that is for a server inside a sandbox, whichever face it came to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/rest/call.h"
#include "api/rest/port_exchange.h"
#include "async/task.h"
#include "node/resident.h"

namespace cordon::api {

// A number from 1 to 65535. `invalid`: it is none.
Result<std::uint16_t> port_of(std::string_view text);

// A way to a port that the sandbox lets in at.
struct PortWay {
  std::shared_ptr<node::Resident> resident;
  std::uint16_t port = 0;
  std::unique_ptr<sandbox::Tunnel> tunnel;
};
// `exhausted`: too many are open. Other errors: nobody listens there, or not in time.
async::Task<PortWay> open_port(std::shared_ptr<node::Resident> resident, std::uint16_t port);

// Where what is there gives no answer, nothing is answered either, and the Error says why.
async::Task<void> pass_to_port(Call& call, PortWay way, std::string path, Credentials credentials);

}  // namespace cordon::api
