// SPDX-License-Identifier: Apache-2.0
// Puts the program into the kernel.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::monitor {

// It runs for as long as somebody holds the links.
struct LoadedRecorder {
  os::Fd watched;  // memory to be mapped: cordon_watched
  os::Fd ring;     // where events come
  os::Fd exec;     // these three are the links
  os::Fd calls;
  os::Fd ends;
};

// Before: the rights to do it. An error says what the kernel had against it.
Result<LoadedRecorder> load_recorder();

}  // namespace cordon::monitor
