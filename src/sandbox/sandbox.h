// SPDX-License-Identifier: Apache-2.0
// A sandbox of any tier as the node sees it: processes are started in it, and it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "async/task.h"
#include "frame/guest.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "record/isolation.h"

namespace cordon::sandbox {

struct Command {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=value; the whole of it
  std::string directory;                 // inside
  std::optional<frame::WindowSize> terminal;
  bool input = true;
};

// What a process tells, in order. After Exited or Failed nothing but output of its children comes.
using ProcessEvent =
    std::variant<frame::Started, frame::Failed, frame::Output, frame::OutputEnd, frame::Exited>;

class Process {
 public:
  virtual ~Process() = default;

  // The next event; asking for it acknowledges the one before: its bytes are with the caller, and a
  // program that writes faster than it is read waits. `unavailable`: the sandbox has ended, nothing
  // more will come.
  virtual async::Task<ProcessEvent> next() = 0;

  // Returns when the sandbox has room for more. `last`: nothing follows.
  virtual async::Task<void> write(std::string bytes, bool last) = 0;
  virtual void signal(int number, frame::SignalTo to) = 0;
  virtual void resize(frame::WindowSize size) = 0;
};

// Destroying it ends it. Before: its loop has been joined, see serve().
class Sandbox {
 public:
  virtual ~Sandbox() = default;

  // Reads from the sandbox until it has ended; everything else waits for what this brings. Run it
  // in a scope for as long as the sandbox is used.
  virtual asio::awaitable<void> serve() = 0;

  virtual std::unique_ptr<Process> start(Command command) = 0;
  virtual async::Task<frame::Usage> usage() = 0;

  // Listens to it no more: everything that waits for it gets an Error, and destroy() follows.
  virtual void abandon() = 0;

  // Ends it: when this returns no process of it is left, nor anything that it had.
  virtual async::Task<frame::Ended> destroy() = 0;

  // Directories of its control groups on this host.
  virtual const std::vector<std::string>& groups() const noexcept = 0;
  // Of pid 1, on this host.
  virtual std::uint32_t pid() const noexcept = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Isolation kind() const noexcept = 0;
  virtual async::Task<std::unique_ptr<Sandbox>> create(frame::LaunchPlan plan) = 0;
};

}  // namespace cordon::sandbox
