// SPDX-License-Identifier: Apache-2.0
// From a name that is allowed to a connection: resolved once, each address judged, the judged one
// dialled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "egress/address.h"
#include "egress/live_connection.h"
#include "egress/resolver.h"
#include "os/ip_address.h"
#include "policy/policy.h"

namespace cordon::egress {

class Dialler {
 public:
  explicit Dialler(Resolver& resolver) : resolver_{resolver} {}

  // Opens `socket` to where `connection` leads, and writes the address there before it is dialled:
  // from then on whoever changes `policy` holds it against that too, and ends what it refuses by
  // finish(), which closes `socket`. All outlive the call.
  //
  // The host is a canonical name, a dotted quad that a rule lists, or the host's own name.
  // `denied`: no address of it may be dialled, and which is said; `not_found`, `unavailable`,
  // `timeout`: it does not answer.
  async::Task<os::IpAddress> dial(LiveConnection& connection, const policy::Policy& policy,
                                  asio::ip::tcp::socket& socket);

 private:
  // Those that nobody has to be asked for.
  std::optional<std::vector<os::IpAddress>> known_addresses(const std::string& host);
  Status drop_refused(std::vector<os::IpAddress>& addresses, const LiveConnection& connection);
  Result<const std::vector<os::IpAddress>*> own_addresses();

  Resolver& resolver_;
  std::vector<os::IpAddress> own_;
  Ticks own_seen_{};
};

}  // namespace cordon::egress
