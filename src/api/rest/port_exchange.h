// SPDX-License-Identifier: Apache-2.0
// One request for a server inside a sandbox: passed on, and its answer passed back. Neither side is
// believed: both are read strictly and written anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "http/exchange.h"
#include "http/framing.h"
#include "http/upgraded.h"
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

struct PortTimes {
  std::chrono::nanoseconds head =
      std::chrono::seconds{60};  // of the answer, from the request's end
  std::chrono::nanoseconds idle = std::chrono::minutes{15};  // of silence in what follows
};

class PortExchange {
 public:
  // `exchange` outlives it.
  PortExchange(const asio::any_io_executor& executor, http::Exchange& exchange,
               std::unique_ptr<sandbox::Tunnel> tunnel, std::string request, PortTimes times = {});
  PortExchange(const PortExchange&) = delete;
  PortExchange& operator=(const PortExchange&) = delete;

  // `timeout`: the server inside took too long. Other errors: it has gone, or speaks no HTTP. Where
  // the answer had begun it breaks off.
  async::Task<void> run(http::RequestHead inner);

 private:
  static async::Task<void> run_in(async::Scope& scope, PortExchange*& self, std::string& head);
  asio::awaitable<void> watch();
  asio::awaitable<void> pump_body();
  async::Task<http::ResponseHead> read_head();
  async::Task<void> pass_body(http::ResponseHead answer, http::Framing framing);
  async::Task<void> relay(async::Scope& scope, http::ResponseHead answer);
  asio::awaitable<void> pump_client();
  // What the server inside says next, in `held_`; nothing in it: the end.
  async::Task<void> fill();
  async::Task<void> give(std::string bytes);
  void allow(std::chrono::nanoseconds time) { deadline_ = Ticks::clock::now() + time; }

  http::Exchange& exchange_;
  std::unique_ptr<sandbox::Tunnel> tunnel_;  // nothing: given up
  std::string request_;                      // its id
  PortTimes times_;
  http::RequestHead inner_;
  http::Framing sent_;  // of the request
  bool upgrades_ = false;
  bool is_late_ = false;
  Ticks deadline_;
  asio::steady_timer look_;
  std::string held_;
  std::unique_ptr<http::Upgraded> upgraded_;
};

}  // namespace cordon::api
