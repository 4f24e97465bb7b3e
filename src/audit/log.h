// SPDX-License-Identifier: Apache-2.0
// The log of what happened: appended to by any number of processes, one record behind the other,
// each of which carries the hash of the one before and is a leaf of one Merkle tree.
//
// A directory holds it: segments (audit/segment.h), `tail` (audit/tail.h), whose lock is the turn
// to write, and `heads`, the signed roots.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "audit/record.h"
#include "audit/tail.h"
#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

struct LogOptions {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20U;  // at which the next one is begun
};

// All of it may be called from any thread.
class Log {
 public:
  // Makes the log where `directory`, open for reading, holds none. What a writer that died has left
  // unfinished is taken off, and recorded. `denied`: what lies there is not as its writers left it.
  // `clock` outlives it.
  static Result<std::unique_ptr<Log>> open(os::Fd directory, const Clock& clock,
                                           LogOptions options = {});

  // Returns once the records are in the kernel: they survive the death of any process. A failure is
  // `unrecorded`: the act that they describe must not happen, and none of them is in the log.
  Status append(const Subject& subject, const AuditEvent& event);
  // Several, in their order, with one write.
  Status append(const Subject& subject, std::span<const AuditEvent> events);

  // What was appended before the call is on the disk when it returns. Where the disk fails, nothing
  // is appended any more until it has gone well once; then the log says what the disk may have
  // lost.
  Status sync();

  const std::string& id() const noexcept { return id_; }
  // How many records it is known to have: as of the last append of this object.
  std::uint64_t size() const;

 private:
  Log(os::Fd directory, os::Fd tail, BootId boot, const Clock& clock, LogOptions options)
      : directory_{std::move(directory)},
        tail_{std::move(tail)},
        boot_{boot},
        clock_{clock},
        options_{options} {}

  // These with mutex_ and the turn.
  Status find_end();
  Status find_last_segment();
  Status open_segment(std::uint64_t first);
  Status replay(std::uint64_t size);
  Status take_off(std::uint64_t from, std::uint64_t to);
  Status begin_segment();
  Status write(std::span<const std::string> bodies);
  Status append_bodies(std::span<const std::string> bodies);

  os::Fd directory_;
  os::Fd tail_;
  BootId boot_;
  const Clock& clock_;
  LogOptions options_;
  std::string id_;

  mutable std::mutex mutex_;
  os::Fd segment_;  // where end_ is
  LogEnd end_;
  bool is_known_ = false;           // segment_ and end_ are as of this object's last turn
  std::uint64_t on_disk_ = 0;       // records, at the last sync
  std::optional<Error> no_disk_{};  // why the last sync failed
};

}  // namespace cordon::audit
