// SPDX-License-Identifier: Apache-2.0
// Puts the program into the kernel.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::recorder {

// It runs for as long as somebody holds the links.
struct LoadedRecorder {
  os::Fd watched;  // memory to be mapped: cordon_watched
  os::Fd ring;     // where events come
  os::Fd exec;     // these three are the links
  os::Fd calls;
  os::Fd ends;
};

// Before: the rights to do it. An error says what the kernel had against it.
// `ring_bytes`: of the ring, a power of two.
Result<LoadedRecorder> load_recorder(std::uint32_t ring_bytes);

}  // namespace cordon::recorder
