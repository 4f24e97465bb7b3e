// SPDX-License-Identifier: Apache-2.0
// A cordon-broker as the launcher starts it, with the test as its owner and as its egress.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

#include "base/bytes.h"
#include "frame/broker.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon {

struct Told {
  frame::BrokerToEgress message;
  std::string value;  // of SecretGiven, whose own points to nothing
};

class StartedBroker {
 public:
  // As `uid`, where given. Ends the test program where it cannot be started.
  explicit StartedBroker(std::optional<uid_t> uid = std::nullopt,
                         const std::string& tenant = "acme");
  // With a store.
  StartedBroker(const os::Fd& store, const os::Fd& key);

  pid_t pid() const { return child_->pid(); }
  // Returns when it waits behind its filter.
  bool is_ready() const;

  frame::BrokerToOwner tell(const frame::OwnerToBroker& message,
                            std::span<const os::Fd* const> fds = {});
  void send_raw(std::string_view bytes);
  // Nothing: it has closed, or said nothing for two seconds.
  std::optional<frame::BrokerToOwner> heard_by_owner();
  std::optional<Told> heard_by_egress();
  std::optional<Told> ask(const frame::AskSecret& request);

  // The owner's end and the egress's, for others to speak over; nothing above works afterwards.
  std::pair<os::Fd, os::Fd> take_sockets() { return {std::move(owner_), std::move(egress_)}; }
  // Closes the owner's end.
  void leave() { owner_ = os::Fd{}; }
  os::ExitStatus wait();

  std::string status(std::string_view field) const;  // of /proc/PID/status
  std::string proc(const char* name) const;          // /proc/PID/NAME

 private:
  void start(std::optional<uid_t> uid, std::span<const os::Fd* const> files,
             const std::string& tenant);

  std::unique_ptr<os::Child> child_;
  os::Fd owner_;
  os::Fd egress_;
  std::array<std::byte, frame::kLongestBrokerMessage> memory_{};
};

// "silence" where nothing was said.
std::string value_of(const std::optional<Told>& told);
frame::BindGrant a_grant(std::string_view secret, std::string grant = "github");
frame::AskSecret a_request(std::uint64_t number, std::string grant = "github");

}  // namespace cordon
