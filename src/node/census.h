// SPDX-License-Identifier: Apache-2.0
// Which sandboxes a node has from the moment that each takes its place, with a number for each
// change: for whoever keeps a copy. And what the keepers of such copies have allowed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "base/result.h"
#include "node/room.h"
#include "wire/unit.h"

namespace cordon::node {

// Used from the loop's thread only.
class Census {
  struct State;

 public:
  // So many that are gone are remembered, for those who read of changes.
  static constexpr std::size_t kMostGone = 4096;

  struct Resident {
    std::string id;
    std::string tenant;
    bool is_build = false;           // made by the node itself, for a template
    std::optional<wire::Unit> unit;  // nothing: nobody counts for it
    bool is_gone = false;
  };

  // One sandbox is there as long as this is.
  class Entry {
   public:
    Entry() = default;
    Entry(std::shared_ptr<State> state, std::uint64_t number)
        : state_{std::move(state)}, number_{number} {}
    Entry(Entry&& other) noexcept : state_{std::move(other.state_)}, number_{other.number_} {}
    Entry& operator=(Entry&& other) noexcept;
    ~Entry();
    // There is something new to tell of it.
    void changed();

   private:
    void leave();
    std::shared_ptr<State> state_;  // of the census, and of each that is in it
    std::uint64_t number_ = 0;      // of its first change: which one it is
  };

  explicit Census(const asio::any_io_executor& executor);

  Entry enter(Resident resident);
  void changed(std::string_view id);

  // What is there and has changed behind `number`, and what is gone since as far as it is
  // remembered: the oldest change first, at most `most`. Each once, by its last change.
  using Changed = std::vector<std::pair<std::uint64_t, const Resident*>>;
  Changed behind(std::uint64_t number, std::size_t most) const;
  // Of what is gone with a change up to here it may not tell any more.
  std::uint64_t forgotten() const noexcept;
  std::uint64_t last() const noexcept;
  // Until there may be something new, or `until`.
  asio::awaitable<void> news(Ticks until);

  // An index begins to read. What earlier ones have allowed holds no more. `exists`: a later one
  // has read already.
  Status begin_index(std::uint64_t index);
  // `unavailable`: it holds no more.
  Status check(const wire::Unit& unit, WallTime now) const;

 private:
  std::shared_ptr<State> state_;
};

// As the room tells it, with a `seq` that counts changes of the census too: who has heard of one
// that is not earlier has heard of all that was there.
inline Room::Gauge gauge_of(const Room& room, const Census& census) {
  Room::Gauge gauge = room.gauge();
  gauge.seq += census.last();
  return gauge;
}

}  // namespace cordon::node
