// SPDX-License-Identifier: Apache-2.0
// Names of the outside, asked of the host's own DNS servers. Only names that a policy has allowed
// come here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "os/ip_address.h"

namespace cordon::egress {

// Names of the host's own table, "/etc/hosts", as resolvers read it; what is no line of it is
// passed over.
using HostsTable = std::map<std::string, std::vector<os::IpAddress>, std::less<>>;
HostsTable parse_hosts(std::string_view text);

// Used from the loop's thread only.
class Resolver {
 public:
  // Reads what the host says about its servers and its own names, and never again: no file is
  // opened later.
  static Result<std::unique_ptr<Resolver>> open(asio::any_io_executor executor);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // All addresses of the name, those of IPv4 first; never none. `name` is canonical.
  // Those that nobody has to be asked for: the host's own names, and answers that still hold.
  std::optional<std::vector<os::IpAddress>> known(const std::string& name);
  // Asks. `not_found`: it has none; `unavailable`: no server answered.
  async::Task<std::vector<os::IpAddress>> resolve(std::string name);

 private:
  struct Channel;
  struct Question;
  explicit Resolver(std::unique_ptr<Channel> channel);

  std::unique_ptr<Channel> channel_;
};

}  // namespace cordon::egress
