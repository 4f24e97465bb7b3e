// SPDX-License-Identifier: Apache-2.0
// What a sandbox's own kernel tells of the programs inside, to the sandbox's records: the classes
// that were asked for, at most so many in a second.
#pragma once

#include <chrono>
#include <cstdint>

#include "frame/guest_trace.h"
#include "monitor/classes.h"
#include "node/seen_record.h"
#include "plan/lower.h"
#include "recorder/watch_table.h"

namespace cordon::node {

// Used from the loop's thread only.
class EngineEar {
 public:
  // `record` outlives it. `per_second`: what is more is counted.
  EngineEar(const plan::Lowered& lowered, SeenRecord& record, std::uint64_t per_second);
  EngineEar(const EngineEar&) = delete;
  EngineEar& operator=(const EngineEar&) = delete;

  // Recorded when this returns.
  void take(const frame::Traced& traced);

 private:
  void take(const monitor::Seen& seen);
  bool has_room();

  SeenRecord& record_;
  monitor::Classes classes_;
  std::uint64_t per_second_;
  std::chrono::steady_clock::time_point second_;
  std::uint64_t taken_ = 0;  // in it
  recorder::Untold untold_;  // of all so far
};

}  // namespace cordon::node
