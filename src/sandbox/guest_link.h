// SPDX-License-Identifier: Apache-2.0
// The host's end of the guest protocol: one stream, many processes. Nothing that the guest says is
// believed beyond its own streams.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "os/fd.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class GuestLink {
 public:
  GuestLink(const asio::any_io_executor& executor, os::Fd control);
  GuestLink(const GuestLink&) = delete;
  GuestLink& operator=(const GuestLink&) = delete;

  // Until the stream ends or the guest breaks the protocol; then every waiting call gets
  // `why_ended`.
  asio::awaitable<void> serve();

  std::uint32_t start(Command command);
  async::Task<ProcessEvent> next(std::uint32_t process);
  async::Task<void> write(std::uint32_t process, std::string bytes, bool last);
  void signal(std::uint32_t process, int number, frame::SignalTo to);
  void resize(std::uint32_t process, frame::WindowSize size);
  async::Task<frame::Usage> usage();

  // Lets go of the stream: pid 1 ends, if nobody else holds it. Who waits is told why.
  void close(std::string why = "the sandbox was left");

 private:
  struct Channel {
    explicit Channel(const asio::any_io_executor& executor) : news{executor}, room{executor} {}
    std::deque<ProcessEvent> events;
    asio::steady_timer news;  // never fires: cancelled to wake who waits
    asio::steady_timer room;
    std::uint64_t received[2] = {0, 0};
    std::uint64_t acknowledged[2] = {0, 0};
    std::optional<frame::Acknowledge> pending;  // of the event that the caller holds
    bool exit_pending = false;
    bool started = false;
    bool stream_ended[2] = {false, false};
    bool exited = false;
    std::uint64_t input_sent = 0;
    std::uint64_t input_taken = 0;
  };

  asio::awaitable<void> write_out();
  void send(const frame::ToGuest& frame);
  Status take(std::span<const std::byte> bytes);
  Status handle(frame::FromGuest frame);
  Status handle_output(frame::Output output);
  Result<Channel*> channel(std::uint32_t process);
  static void push(Channel& to, ProcessEvent event);
  void acknowledge(std::uint32_t process, Channel& channel);
  void end(Error why);
  Error why_ended() const;

  asio::any_io_executor executor_;
  asio::posix::stream_descriptor stream_;
  frame::FrameCutter cutter_;
  std::map<std::uint32_t, std::unique_ptr<Channel>> channels_;
  std::map<std::uint32_t, std::optional<frame::Usage>> usages_;
  asio::steady_timer usage_news_;
  std::string outgoing_;
  asio::steady_timer outgoing_news_;
  std::optional<Error> ended_;
  std::uint32_t next_process_ = 1;
  std::uint32_t next_request_ = 1;
};

}  // namespace cordon::sandbox
