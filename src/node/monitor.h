// SPDX-License-Identifier: Apache-2.0
// What happens inside the sandboxes of a node, as the kernel tells it: read, and recorded under the
// sandbox that it happened in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "audit/log.h"
#include "base/id.h"
#include "monitor/seen.h"
#include "node/engine_ear.h"
#include "node/seen_record.h"
#include "os/fd.h"
#include "plan/lower.h"
#include "recorder/event_ring.h"
#include "recorder/watch_table.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

class Monitor;

// One sandbox that is watched. When this goes without end(), it is watched on, for the next node.
class MonitorShare {
 public:
  MonitorShare(const MonitorShare&) = delete;
  MonitorShare& operator=(const MonitorShare&) = delete;
  ~MonitorShare();

  // Told of each refusal that is not like one before; it outlives this.
  void when_refused(std::function<void(const Denial&)> act) {
    record_.when_refused(std::move(act));
  }
  // Counts what it sees; it outlives this.
  void count_in(Responses& responses) { record_.count_in(responses); }
  // Where its engine tells: before the sandbox is served.
  void listen_to(sandbox::Sandbox& sandbox);
  // The sandbox has ended: all that had happened in it is recorded when this returns. Gives the
  // refusals, each once, with how often it was met.
  std::vector<Denial> end();

 private:
  friend class Monitor;
  MonitorShare(Monitor& monitor, std::uint64_t group, SeenRecord record)
      : monitor_{monitor}, group_{group}, record_{std::move(record)} {}

  Monitor& monitor_;
  std::uint64_t group_;  // 0: its engine tells
  SeenRecord record_;
  std::shared_ptr<EngineEar> ear_;  // of who is told; the sandbox only knows whether it is there
};

// Used from the loop's thread only.
class Monitor {
 public:
  // What holds the program in the kernel; with it, to give a launcher that has none what the one
  // before it had.
  using Open = std::function<async::Task<std::vector<os::Fd>>(std::vector<os::Fd> kept)>;
  // `log` outlives it. `per_second`: events of one sandbox; what is more is counted.
  Monitor(asio::any_io_executor executor, audit::Log& log, Open open, std::uint64_t per_second)
      : executor_{std::move(executor)},
        log_{log},
        open_{std::move(open)},
        per_second_{per_second} {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Before the first sandbox. Where the launcher has no recorder nothing is seen, and this is well.
  async::Task<void> begin();
  // To a launcher that has taken another's place.
  async::Task<void> deposit();
  // Reads, until it is cancelled.
  asio::awaitable<void> keep();
  // Who is not watched again by now has ended with an earlier node.
  void forget_strangers();

  // From here on, before anything runs in it. Nothing: its enforcement says that nothing is
  // reported. `unavailable`: what it says cannot be kept.
  Result<std::unique_ptr<MonitorShare>> watch(const SandboxId& id, audit::Subject subject,
                                              const plan::Lowered& lowered,
                                              const std::vector<std::string>& groups);
  // Of one that an earlier node watched. What it said in the meantime is still there.
  Result<std::unique_ptr<MonitorShare>> watch_again(const SandboxId& id, audit::Subject subject,
                                                    const plan::Lowered& lowered);

 private:
  friend class MonitorShare;
  struct Recorder {
    std::vector<os::Fd> parts;
    recorder::WatchTable table;
    recorder::EventRing ring;
    asio::posix::stream_descriptor news;
  };
  Result<std::unique_ptr<Recorder>> recorder_of(std::vector<os::Fd> parts) const;
  Result<std::unique_ptr<MonitorShare>> share_by_engine(audit::Subject subject,
                                                        const plan::Lowered& lowered);
  Result<std::unique_ptr<MonitorShare>> share(std::uint64_t group, const SandboxId& id,
                                              audit::Subject subject, const plan::Lowered& lowered);
  // What is there, to its records; at most so many events. True: more is there. Before: there is a
  // recorder.
  bool drain(std::size_t most);
  void look_for_untold();
  void end(MonitorShare& share);

  asio::any_io_executor executor_;
  audit::Log& log_;
  Open open_;
  std::uint64_t per_second_;
  std::unique_ptr<Recorder> recorder_;             // nothing: the launcher has none
  std::map<std::uint64_t, MonitorShare*> shares_;  // by group
  // Until all of an earlier node's are watched again: what was seen of those that are not yet.
  std::map<std::uint64_t, std::vector<monitor::Seen>> waiting_;
  bool waits_ = false;
};

}  // namespace cordon::node
