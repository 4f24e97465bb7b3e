// SPDX-License-Identifier: Apache-2.0
// A sandbox of any tier as the node sees it: processes are started in it, and it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "async/task.h"
#include "frame/guest.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "os/fd.h"
#include "record/isolation.h"

namespace cordon::sandbox {

// Who says that bytes and ends are safe. Until then the guest keeps them, for whoever comes next.
enum class Acknowledging : std::uint8_t {
  by_next,    // asking for the next event acknowledges the one before
  by_caller,  // Process::acknowledge and acknowledge_exit
};

// Where a sandbox comes from.
enum class Origin : std::uint8_t {
  launched,  // it is new
  fetched,   // another node had it: processes may live in it
};

struct Command {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=value; the whole of it
  std::string directory;                 // inside
  std::optional<frame::WindowSize> terminal;
  bool input = true;
  bool as_root = false;  // as id 0 inside; where the plan's fences let it
  Acknowledging acknowledging = Acknowledging::by_next;
};

// What a process tells, in order. After Exited or Failed nothing but output of its children comes.
using ProcessEvent =
    std::variant<frame::Started, frame::Failed, frame::Output, frame::OutputEnd, frame::Exited>;

// Destroying it leaves the process alone, which may be adopted again. It may outlive its sandbox:
// then nothing more comes.
class Process {
 public:
  virtual ~Process() = default;

  // Never used twice in a sandbox's life.
  virtual std::uint32_t number() const noexcept = 0;

  // The next event. Acknowledging::by_next: asking for it acknowledges the one before, its bytes
  // are with the caller. A program that writes faster than it is acknowledged waits. `unavailable`:
  // the sandbox has ended, nothing more will come.
  virtual async::Task<ProcessEvent> next() = 0;
  // All bytes of `stream` before `offset` are safe; what next() has not given yet is not.
  virtual void acknowledge(frame::Stream stream, std::uint64_t offset) = 0;
  // The end is recorded: the guest may forget the process.
  virtual void acknowledge_exit() = 0;

  // Returns when the sandbox has room for more. `last`: nothing follows.
  virtual async::Task<void> write(std::string bytes, bool last) = 0;
  virtual void signal(int number, frame::SignalTo to) = 0;
  virtual void resize(frame::WindowSize size) = 0;
};

// A connection to a port inside. Destroying it closes it. Reads may overlap writes; each of its own
// kind comes one after the other.
class Tunnel {
 public:
  virtual ~Tunnel() = default;

  // What has come; empty: its end. The errno of a connection that broke is the error's cause.
  virtual async::Task<std::string> read_some() = 0;
  // Returns when the sandbox has room for more.
  virtual async::Task<void> write(std::string bytes) = 0;
  // Nothing more will be written; reading goes on.
  virtual void shutdown_write() = 0;
};

// Destroying it stops it.
class Watch {
 public:
  virtual ~Watch() = default;

  // What has changed since the last call; waits for something. With `lost`, more than is told: look
  // for yourself. `not_found`: what was watched is gone.
  virtual async::Task<frame::WatchEvents> next() = 0;
};

// For destroy(), which waits for nobody inside.
inline constexpr std::chrono::seconds kLongestDestroy{10};

// Destroying it ends it. Before: its loop has been joined, see serve().
class Sandbox {
 public:
  virtual ~Sandbox() = default;

  // Reads from the sandbox until it has ended; everything else waits for what this brings. Run it
  // in a scope for as long as the sandbox is used.
  virtual asio::awaitable<void> serve() = 0;
  // Why nothing more comes; `timeout`: one that is new never said a word. Before: serve() has
  // returned.
  virtual Error why_ended() const = 0;

  virtual std::unique_ptr<Process> start(Command command) = 0;
  virtual async::Task<frame::Usage> usage() = 0;

  // What lived in it when we came; of one that was fetched this is asked before anything is
  // started. All of these may be adopted: each begins with Started, with the bytes that nobody has
  // acknowledged, or with its end.
  virtual async::Task<frame::Processes> processes() = 0;
  // nullptr: there is none of that number.
  virtual std::unique_ptr<Process> adopt(std::uint32_t number, Acknowledging acknowledging) = 0;

  // One act on its files, done inside with the workload's rights; its error_number is a value. Few
  // are done at once, the others wait for their turn: give up what takes too long.
  virtual async::Task<frame::FileReply> file(frame::FileRequest request) = 0;

  // Many entries in one act, in all else the same.
  virtual async::Task<frame::FileReply> write_tree(frame::WriteTree tree) = 0;
  virtual async::Task<frame::FileReply> read_tree(frame::ReadTree tree) = 0;

  // To 127.0.0.1 or ::1 inside, with the workload's rights. An error's cause is the errno of the
  // connection; `exhausted`: too many are open. Ends with the sandbox, and with our stream to it.
  virtual async::Task<std::unique_ptr<Tunnel>> tunnel(std::uint16_t port) = 0;
  // The number is ours to fill. Ends with the sandbox, and with our stream to it.
  virtual async::Task<std::unique_ptr<Watch>> watch(frame::StartWatch wanted) = 0;

  // Every process in it stops, whoever started it, and none begins until it goes on: it may be told
  // so at any time, and more than once.
  virtual void stand_still() = 0;
  // As it was.
  virtual void go_on() = 0;

  // Listens to it no more: everything that waits for it gets an Error, and destroy() follows.
  virtual void abandon() = 0;

  // Ends it: when this returns no process of it is left, nor anything that it had.
  virtual async::Task<frame::Ended> destroy() = 0;

  // Directories of its control groups on this host.
  virtual const std::vector<std::string>& groups() const noexcept = 0;
  // Of pid 1, on this host.
  virtual std::uint32_t pid() const noexcept = 0;

  // At which the listeners of its filter arrive, for who answers them; once. Empty: its filter
  // tells nobody.
  virtual os::Fd take_witness() noexcept { return {}; }
  // Given what its engine tells of the programs inside; before serve(). Where nobody is to be given
  // it nothing of it is kept.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who is given something keeps it
  virtual void when_traced(std::function<void(const frame::Traced&)> /*act*/) {}
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Isolation kind() const noexcept = 0;
  virtual async::Task<std::unique_ptr<Sandbox>> create(frame::LaunchPlan plan) = 0;
};

}  // namespace cordon::sandbox
