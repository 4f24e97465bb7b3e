// SPDX-License-Identifier: Apache-2.0
// One command in a sandbox that lives on, from its start to its end.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "async/task.h"
#include "frame/guest.h"
#include "node/resident.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

// Hears what a command writes, piece by piece: an Error ends the command.
class OutputEar {
 public:
  virtual ~OutputEar() = default;
  virtual async::Task<void> hear(frame::Stream stream, std::string bytes) = 0;
};

// Returns when it is over: its exit code, or 128 and its signal. `unavailable`: it did not start,
// or its sandbox has ended. `timeout`: it did not end within `limit`, and was killed.
async::Task<int> run_inside(std::shared_ptr<Resident> resident, sandbox::Command command,
                            OutputEar& ear, std::chrono::milliseconds limit);

}  // namespace cordon::node
