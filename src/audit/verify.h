// SPDX-License-Identifier: Apache-2.0
// Whether a log says what its writers wrote: read from its first byte to its last, without them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/head.h"
#include "audit/tree_range.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

struct Finding {
  std::uint64_t record = 0;  // the first whose content or place is not as it was written
  std::string what;          // a sentence
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Verified {
  std::string log;               // its id
  std::uint64_t records = 0;     // that are as they were written
  std::uint64_t dropped = 0;     // of them, of which only the hashes are kept
  std::uint64_t unknown = 0;     // of them, whose events are of a newer version
  Digest root{};                 // of these records
  std::uint64_t sealed = 0;      // up to here a signed head holds them; after it, only the chain
  std::uint64_t heads = 0;       // that were held against them
  std::uint64_t unfinished = 0;  // bytes at the end of a record that is being written, or never was
  std::optional<Finding> finding;
};

// Whether its signature is that of a key which the caller trusts.
using IsTrusted = std::function<bool(const Head&)>;

// `directory`: of the log, open for reading. `heads`: all that are known of it, from its own file
// and from wherever they were anchored; those of other logs are left aside. Fails where it cannot
// be read; what is wrong with it is a finding, the first one.
Result<Verified> verify(const os::Fd& directory, std::span<const Head> heads,
                        const IsTrusted& is_trusted);

}  // namespace cordon::audit
