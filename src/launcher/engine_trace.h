// SPDX-License-Identifier: Apache-2.0
// What runsc's kernel is asked to tell of the programs inside, and where it comes to tell it: its
// trace session, which it has from its very first program on.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Of the engine's own file tree.
inline constexpr const char* kTraceSessionName = "session.json";  // in the bundle
inline constexpr const char* kTraceSession = "/bundle/session.json";
inline constexpr const char* kTraceSocket = "/trace";

// The text of the session. (pure)
//
// No act is asked for with the name of its thread, which any thread can change to one that cannot
// be told (relay/unnamed.h); the calls that have paths are asked for by their numbers as well.
std::string trace_session();

// Before: the engine's root is ours, and no engine runs. What connects there is the engine: nobody
// behind it can name the place.
Result<os::Fd> listen_for_trace();

}  // namespace cordon::launcher
