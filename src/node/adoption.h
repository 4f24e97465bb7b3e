// SPDX-License-Identifier: Apache-2.0
// What a node does when it begins: goes on with the sandboxes that live, ends what was half-made,
// and says of the rest that it is gone.
#pragma once

#include <cstddef>
#include <vector>

#include "async/task.h"
#include "journal/journal.h"
#include "node/residents.h"
#include "sandbox/process/launcher_link.h"
#include "sandbox/process/service_backend.h"

namespace cordon::node {

struct Adopted {
  std::size_t living = 0;  // go on
  std::size_t ended = 0;   // half-made, or of nobody
  std::size_t lost = 0;    // were in the journal, and not with the launcher
};

// `rows`: all of the journal, as it was found. All others outlive the call.
async::Task<Adopted> adopt_all(std::vector<journal::SandboxRow> rows, Residents& residents,
                               sandbox::LauncherLink& launcher, sandbox::ServiceBackend& backend,
                               journal::Journal& journal);

}  // namespace cordon::node
