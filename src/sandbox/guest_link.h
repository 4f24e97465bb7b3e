// SPDX-License-Identifier: Apache-2.0
// The host's end of the guest protocol: one stream, many processes. Nothing that the guest says is
// believed beyond its own streams.
#pragma once

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

class GuestLink {
 public:
  GuestLink(const asio::any_io_executor& executor, os::Fd control,
            Origin origin = Origin::launched);
  GuestLink(const GuestLink&) = delete;
  GuestLink& operator=(const GuestLink&) = delete;

  // Until the stream ends or the guest breaks the protocol; then every waiting call gets why.
  asio::awaitable<void> serve();

  ProcessChannels& processes() noexcept { return processes_; }
  FileDesk& files() noexcept { return files_; }
  TunnelDesk& tunnels() noexcept { return tunnels_; }
  WatchDesk& watches() noexcept { return watches_; }
  async::Task<frame::Usage> usage();

  // Another descriptor of the stream, to be kept for somebody.
  Result<os::Fd> copy_stream();

  // Lets go of the stream: pid 1 ends, if nobody else holds it. Who waits is told why.
  void close(std::string why = "the sandbox was left");

 private:
  asio::awaitable<void> read_in();
  asio::awaitable<void> write_out();
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
  std::map<std::uint32_t, std::optional<frame::Usage>> usages_;
  asio::steady_timer usage_news_;
  std::uint32_t next_usage_ = 1;
};

}  // namespace cordon::sandbox
