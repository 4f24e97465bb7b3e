// SPDX-License-Identifier: Apache-2.0
#include "node/engine_ear.h"

#include "base/bytes.h"
#include "monitor/traced.h"

namespace cordon::node {

EngineEar::EngineEar(const plan::Lowered& lowered, SeenRecord& record, std::uint64_t per_second)
    : record_{record},
      classes_{monitor::classes_of(lowered.enforcement.reported)},
      per_second_{per_second} {}

bool EngineEar::has_room() {
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ >= std::chrono::seconds{1}) {
    second_ = now;
    taken_ = 0;
  }
  if (taken_ < per_second_) {
    ++taken_;
    return true;
  }
  ++untold_.over;
  return false;
}

void EngineEar::take(const monitor::Seen& seen) {
  if (monitor::is_of(classes_, seen) && has_room()) record_.take(seen);
}

void EngineEar::take(const frame::Traced& traced) {
  for (const frame::TracedAct& act : traced.acts) take(monitor::seen_of(act));
  for (const std::string& event : traced.events) {
    if (const auto seen = monitor::read_seen(as_bytes(event))) take(*seen);
  }
  untold_.lost += traced.lost;
  untold_.unnamed += traced.unnamed;
  record_.take_untold(untold_);
  record_.write();
}

}  // namespace cordon::node
