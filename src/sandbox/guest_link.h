// SPDX-License-Identifier: Apache-2.0
// The host's end of the guest protocol: one stream, many processes. Nothing that the guest says is
// believed beyond its own streams.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "os/fd.h"
#include "sandbox/file_desk.h"
#include "sandbox/outbox.h"
#include "sandbox/process_channels.h"
#include "sandbox/sandbox.h"
#include "sandbox/tunnel_desk.h"
#include "sandbox/watch_desk.h"

namespace cordon::sandbox {

// For the first word of a guest that is new. Whatever stands in front of it has been started by
// then: an engine that hangs, or a machine with no time for it, takes longer.
inline constexpr std::chrono::seconds kFirstWord{60};

class GuestLink {
 public:
  // `first_word` is another in tests alone.
  GuestLink(const asio::any_io_executor& executor, os::Fd control, Origin origin = Origin::launched,
            std::chrono::milliseconds first_word = kFirstWord);
  GuestLink(const GuestLink&) = delete;
  GuestLink& operator=(const GuestLink&) = delete;

  // Until the stream ends, the guest breaks the protocol, or one that is new has said nothing in
  // time (`timeout`): then every waiting call gets why.
  asio::awaitable<void> serve();
  // Before: serve() has returned.
  Error why_ended() const { return outbox_.why(); }

  ProcessChannels& processes() noexcept { return processes_; }
  FileDesk& files() noexcept { return files_; }
  TunnelDesk& tunnels() noexcept { return tunnels_; }
  WatchDesk& watches() noexcept { return watches_; }
  async::Task<frame::Usage> usage();
  // As Sandbox::when_traced.
  void when_traced(std::function<void(const frame::Traced&)> act) { traced_ = std::move(act); }

  // Another descriptor of the stream, to be kept for somebody.
  Result<os::Fd> copy_stream();

  // Lets go of the stream: pid 1 ends, if nobody else holds it. Who waits is told why.
  void close(std::string why = "the sandbox was left");

 private:
  asio::awaitable<void> read_in();
  asio::awaitable<void> write_out();
  asio::awaitable<void> await_first_word();
  Status take_what_came();
  Status take(std::span<const std::byte> bytes);
  Status take_hello(const frame::Hello& hello);
  Status take_usage(const frame::Usage& usage);
  // To the desk that it is for.
  template <class Said>
  Status hear(Said& said);
  void end(Error why);

  asio::posix::stream_descriptor stream_;
  Outbox outbox_;
  frame::FrameCutter cutter_;
  ProcessChannels processes_;
  FileDesk files_;
  TunnelDesk tunnels_;
  WatchDesk watches_;
  std::function<void(const frame::Traced&)> traced_;
  std::map<std::uint32_t, std::optional<frame::Usage>> usages_;
  asio::steady_timer usage_news_;
  bool awaits_first_word_;
  asio::steady_timer first_word_;  // cut short by it, and by the end
  std::chrono::milliseconds patience_;
  std::uint32_t next_usage_ = 1;
};

}  // namespace cordon::sandbox
