// SPDX-License-Identifier: Apache-2.0
// Who is watched: memory that the program in the kernel reads at every system call. To change it
// needs no right but the descriptor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/mapping.h"

struct cordon_watched;

namespace cordon::recorder {

// What of a sandbox was not told: events past its share of a second, those for which there was no
// room on their way, and those that an engine cannot name.
struct Untold {
  std::uint64_t over = 0;
  std::uint64_t lost = 0;
  std::uint64_t unnamed = 0;
  friend bool operator==(const Untold&, const Untold&) = default;
};

// One writer at a time.
class WatchTable {
 public:
  // `memory`: of the program, or of a test.
  static Result<WatchTable> open(const os::Fd& memory);

  // `group`: the number of a control group of version 2, not 0. One that is watched already goes on
  // with these. `tag`: of the caller's choosing. `exhausted`: there is no place.
  struct Watch {
    std::uint64_t tag = 0;
    std::uint32_t classes = 0;  // CORDON_EXEC and its like
    std::uint64_t per_second = 0;
  };
  Status watch(std::uint64_t group, const Watch& watch);
  // Who is watched, with its tag: also what another process had watched.
  struct Watched {
    std::uint64_t group = 0;
    std::uint64_t tag = 0;
  };
  std::vector<Watched> all() const;
  // Gives what is left to tell.
  Untold forget(std::uint64_t group);
  // Since it is watched; nothing of one that is not.
  Untold untold(std::uint64_t group) const;

 private:
  explicit WatchTable(os::Mapping memory) : memory_{std::move(memory)} {}
  cordon_watched& table() const;
  // Nothing: there is none.
  std::optional<std::size_t> find(std::uint64_t group) const;
  std::optional<std::size_t> find_room(std::uint64_t group) const;

  os::Mapping memory_;
};

}  // namespace cordon::recorder
