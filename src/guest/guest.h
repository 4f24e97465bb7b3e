// SPDX-License-Identifier: Apache-2.0
// Pid 1 of a sandbox: one stream to the host, one spawner, the processes that the host asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "frame/guest.h"
#include "guest/control.h"
#include "guest/filter_profile.h"
#include "os/fd.h"

namespace cordon::guest {

struct GuestOptions {
  // False in tests that have no namespaces: signals to "all" go to the known sessions only, and the
  // end of the guest kills them by itself.
  bool pid_namespace = true;
  FilterLookup find_filter = &guest::find_filter;
  std::chrono::milliseconds patience{30'000};  // for an answer of the spawner
  std::chrono::milliseconds idle{2'000};       // of a spawner, before it ends
  bool own_kernel = false;                     // nobody else's processes are in it
  // Of a machine that will be saved: what most of those that begin as it will be told. All that
  // can be done by it is done before Setup.
  const frame::Setup* usual = nullptr;
  bool first_program = false;       // of its kernel: nobody before us ignored a signal
  const os::Fd* witness = nullptr;  // where filters' listeners go; nothing: nowhere
  // Where it is known later which stream is the host's: called when all stands that can stand
  // without, and waits for it.
  std::function<Result<Control>()> await_control;
};

// How the guest ends; the program's exit code.
enum class GuestEnd : std::uint8_t {
  stream_ended = 0,      // nobody is at the other end any more
  could_not_begin = 1,   // Failed{process 0} was sent
  protocol_error = 2,    // the host sent what no host sends
  out_of_resources = 3,  // the kernel refused what the loop cannot do without
};

// Serves the stream until its end. Before: single-threaded, the first frame is Setup. Afterwards
// every process of the sandbox is dead or dies with us.
//
// Promises to the host, beyond those of frame/guest.h:
// - Hello is sent once the spawner of Setup stands, and after each Resume; Processes follows it.
//   Either Hello or Failed{0} is the first frame.
// - Exited comes after every byte that the process itself had written, as far as its rings held
//   them when it ended; what did not fit, and what its descendants write, follows until OutputEnd.
// - A Failed start is an end like Exited: repeated after Resume until AcknowledgeExit.
// - After AcknowledgeExit streams go on until their OutputEnd is sent and all is acknowledged.
// - Resume drops replies to requests (Usage, FileReply) that were not sent yet.
// - A descriptor that arrives beside bytes on the stream is a new stream: the old one is left with
//   whatever was half sent on it, and the guest goes on there as after Resume.
GuestEnd run(Control control, const GuestOptions& options);

}  // namespace cordon::guest
