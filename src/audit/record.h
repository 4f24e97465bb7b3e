// SPDX-License-Identifier: Apache-2.0
// One record of the log, and its one encoding: a line of JSON (docs/audit.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hash/sha256.h"
#include "record/audit_event.h"

namespace cordon::audit {

// Of a text more than this is not kept, but counted and hashed.
inline constexpr std::size_t kLongestText = 4096;
// No line is longer, however much is in an event.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

// Whom an event is about. Empty: of none, or of the node itself.
struct Subject {
  std::string tenant;
  std::string sandbox;
  friend bool operator==(const Subject&, const Subject&) = default;
};

// A text of which only the beginning was kept.
struct Cut {
  std::string field;
  std::uint64_t bytes = 0;  // of all of it
  std::string sha256;       // of all of it, in hex
  friend bool operator==(const Cut&, const Cut&) = default;
};

struct Record {
  std::uint64_t number = 0;  // from 0, without a gap
  WallTime time;             // may jump
  std::uint64_t ticks = 0;   // microseconds since the machine started; never goes back
  Digest before{};           // the leaf hash of the record before; zeros for the first
  Subject subject;
  AuditEvent event;
  std::vector<Cut> cuts;
  friend bool operator==(const Record&, const Record&) = default;
};

// What does not depend on the record's place, from its subject to the end of its line.
std::string encode_body(const Subject& subject, const AuditEvent& event);
// With what does. Together they are the line, without a newline.
std::string encode_front(std::uint64_t number, WallTime time, std::uint64_t ticks,
                         const Digest& before);
std::string encode(const Record& record);

// `invalid`: not a line that encode() gives.
Result<Record> decode(std::string_view line);

// The name of its kind: "policy_accepted".
std::string_view name_of(const AuditEvent& event);

}  // namespace cordon::audit
