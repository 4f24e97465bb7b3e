// SPDX-License-Identifier: Apache-2.0
// Starting a program of our own beside us.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::os {

// Nothing: the caller's own.
struct StandardFds {
  const Fd* in = nullptr;
  const Fd* out = nullptr;
  const Fd* err = nullptr;
};

// `fds` become descriptors 3, 4, …; 0, 1 and 2 are those of `standard`, every other is closed at
// exec. Signals have their default meaning again and none is blocked.
Result<Child> spawn(const std::string& program, std::vector<std::string> arguments,
                    std::vector<std::string> environment, std::span<const Fd* const> fds,
                    const StandardFds& standard = {});

// The same with pipes at its standard streams, and no other descriptor: these are our ends of them.
struct Piped {
  Child child;
  Fd in;
  Fd out;
  Fd err;
};
// `size`: of the first two, as far as the kernel lets them.
Result<Piped> spawn_piped(const std::string& program, std::vector<std::string> arguments,
                          std::size_t size);

// The same for one that outlives us, in a session of its own, with nobody's streams: it is not
// waited for, and we end soon.
Status spawn_and_leave(const std::string& program, std::vector<std::string> arguments,
                       std::vector<std::string> environment);

}  // namespace cordon::os
