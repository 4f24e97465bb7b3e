// SPDX-License-Identifier: Apache-2.0
// Secrets that were read for a grant, between their arrival and the owner's word of what for.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "frame/broker.h"
#include "os/locked_memory.h"

namespace cordon::broker {

class Arrivals {
 public:
  // Those that nobody asks for are wiped.
  static constexpr std::chrono::seconds kPatience{30};
  static constexpr std::size_t kMost = 64;

  // Copies the secret. One too many is not kept, as if it had not arrived. Where a second one of a
  // ticket comes neither is, and who asks for it hears why.
  void put(const frame::SourceToBroker& message, Ticks now);

  // Once. `timeout`: it has not arrived. `denied`: it was read for another host, and is wiped.
  // Whatever made its reading fail: `unavailable`.
  Result<os::LockedMemory> take(std::uint64_t ticket, const std::string& host);

  // Wipes what is too old. Gives when to come again; nothing: there is nothing to wait for.
  std::optional<Ticks> expire(Ticks now);

 private:
  struct Arrived {
    std::string host;
    Result<os::LockedMemory> secret;
    Ticks until;
  };
  std::map<std::uint64_t, Arrived> arrived_;
};

}  // namespace cordon::broker
