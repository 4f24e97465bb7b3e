// SPDX-License-Identifier: Apache-2.0
// cordon-init as the launcher executes it: a sealed copy in memory, to which no path leads.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// A program of ours that lies beside the running one; never found by a search path.
Result<os::Fd> open_beside(const char* name);

// The copy is made while the first sandbox builds its tree, which takes longer: `open` makes it
// empty, the launcher fills it after it has cloned the first child, and a child waits for that.
class Program {
 public:
  // Finds it beside the running program, never by a search path.
  static Result<Program> open();

  // By the launcher, after each clone. Once it has succeeded it does nothing.
  Status fill();
  // By a child, before exec. An Error when what is there is not whole and sealed; so also when the
  // launcher has died or failed.
  Status await() const;

  const os::Fd& file() const noexcept { return memory_; }

 private:
  Program(os::Fd source, os::Fd memory) : source_{std::move(source)}, memory_{std::move(memory)} {}

  os::Fd source_;  // empty once it is copied
  os::Fd memory_;
};

}  // namespace cordon::launcher
