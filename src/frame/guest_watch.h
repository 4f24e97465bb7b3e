// SPDX-License-Identifier: Apache-2.0
// The guest protocol's part about watches: what changes below a path inside, as it changes.
//
// Done by a child of the spawner for each watch, with the workload's rights. A watch belongs to the
// stream that it was begun on: after Resume there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/fields.h"

namespace cordon::frame {

// At once, of one sandbox; more fail with EAGAIN.
inline constexpr std::size_t kMostWatches = 16;
// Directories of one watch that goes down.
inline constexpr std::size_t kMostWatchedDirectories = 4096;
// Events in one frame.
inline constexpr std::size_t kMostWatchEvents = 256;

// To the guest. Answered by WatchBegun or WatchEnded. `watch` is a number of the host's choosing,
// never used twice on one stream.
struct StartWatch {
  std::uint32_t watch = 0;
  std::string path;        // absolute, inside: a directory, or a file; links are followed
  std::string beneath;     // as of FileRequest
  bool recursive = false;  // and all directories below, also those that come; follows no link
  CORDON_FIELDS(StartWatch, self.watch, self.path, self.beneath, self.recursive);
};

struct StopWatch {
  std::uint32_t watch = 0;
  CORDON_FIELDS(StopWatch, self.watch);
};

enum class WatchKind : std::uint8_t {
  made,
  changed,     // its bytes
  attributes,  // its mode, owner or time
  removed,
  moved_away,  // the name that it had
  moved_here,  // the name that it has; `move` is that of the name that it had, if that was here
};
constexpr WatchKind last_of(WatchKind) noexcept { return WatchKind::moved_here; }

struct WatchEvent {
  WatchKind kind = WatchKind::changed;
  std::string name;  // relative to the path; empty: what it names itself
  bool directory = false;
  std::uint32_t move = 0;
  CORDON_FIELDS(WatchEvent, self.kind, self.name, self.directory, self.move);
};

struct WatchBegun {
  std::uint32_t watch = 0;
  CORDON_FIELDS(WatchBegun, self.watch);
};

// What is made in a directory at the moment when that is made may be told twice.
struct WatchEvents {
  std::uint32_t watch = 0;
  std::vector<WatchEvent> events;
  bool lost = false;  // there was more than could be kept, or watched: look for yourself
  CORDON_FIELDS(WatchEvents, self.watch, self.events, self.lost);
};

// Nothing more comes. 0: what was watched is gone.
struct WatchEnded {
  std::uint32_t watch = 0;
  std::int32_t error_number = 0;
  CORDON_FIELDS(WatchEnded, self.watch, self.error_number);
};

}  // namespace cordon::frame
