// SPDX-License-Identifier: Apache-2.0
// One request for a server inside a sandbox: what of it goes in, and what of the answer comes out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "http/exchange.h"
#include "http/forward.h"
#include "node/resident.h"

namespace cordon::api {

// Whose the credentials of a request are.
enum class Credentials : std::uint8_t {
  ours,          // the server inside gets none of them
  of_the_inner,  // what opened the way has a name of its own, and is taken off
};

// As the server inside gets it: from /, for localhost, without what is for us or for this hop
// alone; above all without what it was let in by, however that is spelt.
http::RequestHead inner_head(const http::RequestHead& outer, std::string path, std::uint16_t port,
                             Credentials credentials);

// Of its answer, as the client gets it: without what only we say.
http::Fields outer_fields(http::Fields fields, std::string request);

using PortTimes = http::ForwardTimes;

class PortExchange {
 public:
  // `exchange` outlives it. `request`: its id.
  PortExchange(const asio::any_io_executor& executor, http::Exchange& exchange,
               std::unique_ptr<sandbox::Tunnel> tunnel, std::string request, PortTimes times = {});

  // `timeout`: the server inside took too long. Other errors: it has gone, or speaks no HTTP. Where
  // the answer had begun it breaks off.
  async::Task<void> run(http::RequestHead inner) { return forward_.run(std::move(inner)); }

 private:
  http::Forward forward_;
};

}  // namespace cordon::api
