// SPDX-License-Identifier: Apache-2.0
// What a node says of itself: where it answers, and how much room it has.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/warm_set.h"

namespace cordon::fleet {

// Orders what a node says, by whichever way it comes: a later start of the node before all that an
// earlier one said.
struct Stamp {
  std::uint32_t epoch = 0;  // which start
  std::uint64_t seq = 0;    // within it
  friend auto operator<=>(const Stamp&, const Stamp&) = default;
};

// Absolute, not a difference: one that is lost costs nothing, one that is late is left out.
struct Gauge {
  Stamp at;
  std::uint32_t slots = 0;  // sandboxes that it takes
  std::uint32_t free = 0;   // of these
  WarmSet warm;
  friend bool operator==(const Gauge&, const Gauge&) = default;
};

struct Summary {
  std::string address;  // a literal address and a port
  Gauge gauge;
  bool is_draining = false;  // nothing new
  // Of the fleet's policy: which release it runs (0: none), which it could not take (0: none) and
  // why, and how many creates its release alone has turned away, as long as these are few.
  std::uint64_t release = 0;
  std::uint64_t refused = 0;
  std::string why{};
  std::uint64_t turned_away = 0;
  std::uint64_t saying = 0;  // tells two writings of the same apart; nobody reads it
  // Nobody's place any more: written by an operator in place of what the node said. All else is
  // empty then.
  bool is_expelled = false;
  friend bool operator==(const Summary&, const Summary&) = default;
};

// JSON of about 150 bytes.
std::string encode(const Summary& summary);

// As strict as a node may be wrong: numbers within bounds, an address that is one and that a node
// can have. Keys that are not known are left out: a later version's. Errc::invalid.
Result<Summary> decode_summary(std::string_view text);

// An address and a port of a single machine: "192.0.2.1:7070", "[2001:db8::1]:7070". Neither a
// name, which somebody else resolves, nor an address that means many or none.
Status check_address(std::string_view text);

// Somebody's words, as what is written to etcd may have them: of a bounded length, without anything
// but ASCII's printable characters.
std::string plain_words(std::string_view text);
// So many creates that were turned away are as good as more.
inline constexpr std::uint64_t kMostTurnedAway = 10;

// Whether `now` is worth a write after `last`: more than one in fifty of its slots came or went, or
// it says something else.
bool differs(const Summary& last, const Summary& now);

}  // namespace cordon::fleet
