// SPDX-License-Identifier: Apache-2.0
#include "node/room.h"

#include <utility>

#include <fmt/format.h>

namespace cordon::node {

std::string_view to_string(NoRoom why) noexcept {
  switch (why) {
    case NoRoom::full:
      return "full";
    case NoRoom::draining:
      return "draining";
    case NoRoom::unit:
      return "unit";
  }
  std::unreachable();
}

Room::Place::Place(std::shared_ptr<State> state) : state_{std::move(state)} {
  ++state_->taken;
  ++state_->changes;
}

Room::Place& Room::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    give_back();
    state_ = std::move(other.state_);
  }
  return *this;
}

Room::Place::~Place() { give_back(); }

void Room::Place::give_back() {
  if (!state_) return;
  --state_->taken;
  ++state_->changes;
  state_.reset();
}

Result<Room::Place> Room::take(std::optional<NoRoom>& why) {
  if (is_draining_) {
    why = NoRoom::draining;
    return Error{Errc::unavailable, "this node takes no new sandboxes: it is being drained"};
  }
  if (slots_ && state_->taken >= *slots_) {
    why = NoRoom::full;
    return Error{Errc::unavailable,
                 fmt::format("this node has all the sandboxes that it takes, {}", *slots_)};
  }
  return Place{state_};
}

void Room::drain(bool is_draining) noexcept {
  if (is_draining_ == is_draining) return;
  is_draining_ = is_draining;
  ++state_->changes;
}

Room::Gauge Room::gauge() const noexcept {
  const std::uint64_t slots = slots_.value_or(0);
  return {.start = start_,
          .seq = state_->changes,
          .slots = slots,
          .free = slots > state_->taken ? slots - state_->taken : 0,
          .is_draining = is_draining_};
}

std::string gauge_text(const Room::Gauge& gauge) {
  return fmt::format("{} {} {} {}", gauge.start, gauge.seq, gauge.slots,
                     gauge.is_draining ? 0 : gauge.free);
}

}  // namespace cordon::node
