// SPDX-License-Identifier: Apache-2.0
// Ids beside their own that ordinary users may map: who grants them to whom, and what would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"
#include "os/id_map.h"
#include "os/probe_identity.h"

namespace cordon::os {

struct SubIds {
  SubordinateIds uids;
  SubordinateIds gids;
};

// The caller's first range of each. `not_found`: none, or no newuidmap; the text says which.
Result<SubIds> find_sub_ids(const Caller& caller);

// The command that would give the caller what find_sub_ids misses, or empty.
std::string sub_ids_remedy(const Caller& caller);

// The first id past all ranges in the text of /etc/subuid, at least 100,000: where a new range may
// begin.
std::uint64_t next_free_sub_id(std::string_view text);

// Maps 0 to the caller's own id and the range behind it, for process `pid`.
Status map_sub_ids(const Caller& caller, const SubIds& ranges, pid_t pid);

}  // namespace cordon::os
