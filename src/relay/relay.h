// SPDX-License-Identifier: Apache-2.0
// Pid 1 in front of an engine (a user-space kernel, a virtual machine): it carries frames between
// the host's socket, over which another may come, and the engine, to which no socket can be handed.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::relay {

// All that a relay has. None of them blocks.
struct Ends {
  os::Fd control;     // to the host
  os::Fd to_guest;    // into the engine
  os::Fd from_guest;  // out of it; the same open file where one carries both ways
  os::Fd words;       // what the engine says of itself, read to be told when it could not begin
  os::Fd engine;      // readable when the engine has ended
  os::Fd monitor{};   // of a machine that is to be saved or loaded
  os::Fd state{};     // of it
  os::Fd trace{};     // where the engine comes to tell what programs inside do; may be none
};

// The program's exit code.
enum class RelayEnd : std::uint8_t {
  host_gone = 0,       // nobody is at the other end any more
  engine_ended = 1,    // what it had written has been passed on
  protocol_error = 2,  // one side sent what is no frame
  saved = frame::kSavedMachine,
};

// What stands behind the relay, and what is done with a machine beside carrying.
enum class MachineTask : std::uint8_t { none, carry, save, load };

// Carries until one side has ended. A frame is passed on whole or, where the host's stream was
// exchanged between its bytes, not at all; on a new stream the guest is told to resume, and nothing
// comes before its answer to that. What the engine tells of programs is passed on as Traced: before
// whatever the guest said later, where the host reads. An engine that ends before the guest's first
// frame is told as Failed{0} with its last words.
RelayEnd carry(Ends ends, MachineTask task = MachineTask::none);

}  // namespace cordon::relay
