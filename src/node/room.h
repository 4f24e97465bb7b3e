// SPDX-License-Identifier: Apache-2.0
// Whether a node takes another sandbox: its slots, and whether it takes new ones at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::node {

// The header of an answer that says nothing was begun because there is no room here, and with which
// word: whoever knows another node asks it. "unit": what the cell's index has allowed it by does
// not hold here; it may be asked for again by another.
inline constexpr std::string_view kNoRoomField = "Cordon-No-Room";
// The header in which a node of a fleet tells how much room it has, with each answer.
inline constexpr std::string_view kGaugeField = "Cordon-Gauge";

enum class NoRoom : std::uint8_t { full, draining, unit };
std::string_view to_string(NoRoom why) noexcept;

// Used from the loop's thread only.
class Room {
  struct State {
    std::uint64_t taken = 0;
    std::uint64_t changes = 0;
  };

 public:
  // What one sandbox takes; given back when this goes.
  class Place {
   public:
    Place() = default;
    explicit Place(std::shared_ptr<State> state);
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) noexcept;
    ~Place();

   private:
    void give_back();
    std::shared_ptr<State> state_;  // of the room, and of each that has a place in it
  };

  // `start`: which one of this node's it is. Without `slots` it is never full.
  Room(std::uint32_t start, std::optional<std::uint64_t> slots, bool is_draining)
      : start_{start}, slots_{slots}, is_draining_{is_draining} {}

  // `unavailable`, and `why` says so: nothing was taken.
  Result<Place> take(std::optional<NoRoom>& why);
  // Of one that lives already: it is never refused.
  Place take_over() { return Place{state_}; }

  // A node of a fleet: who finds no room here is sent to another.
  bool is_one_of_many() const noexcept { return slots_.has_value(); }

  // What lives goes on; nothing new begins.
  void drain(bool is_draining) noexcept;

  // As it is now. A later one of the same start has a greater `seq`, unless nothing has changed.
  struct Gauge {
    std::uint32_t start = 0;
    std::uint64_t seq = 0;
    std::uint64_t slots = 0;  // 0: it has no bound
    std::uint64_t free = 0;
    bool is_draining = false;
  };
  Gauge gauge() const noexcept;

 private:
  std::uint32_t start_;
  std::optional<std::uint64_t> slots_;
  bool is_draining_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// "3 17 1000 990": start, number of the saying, slots, free ones.
std::string gauge_text(const Room::Gauge& gauge);

}  // namespace cordon::node
