// SPDX-License-Identifier: Apache-2.0
// The processes of one guest: what each has said and nobody has taken yet, and what is on its way
// to them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "sandbox/outbox.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class ProcessChannels {
 public:
  // `outbox` outlives it.
  ProcessChannels(asio::any_io_executor executor, Outbox& outbox, Origin origin);

  // Of a sandbox that was fetched only after known() has answered: before, it fails (EAGAIN).
  std::uint32_t start(Command command);
  // It was made with a process; before anything is started.
  void expect_standby();
  // What the guest told first of all.
  async::Task<frame::Processes> known();
  // From now on the caller's, whoever had started it. False: there is none of that number.
  bool adopt(std::uint32_t process, Acknowledging acknowledging);
  // Its caller will not ask for it any more. It goes on, and who adopts it does so where that
  // caller stopped. One of which the guest owes nothing is forgotten.
  void leave(std::uint32_t process);

  async::Task<ProcessEvent> next(std::uint32_t process);
  async::Task<void> write(std::uint32_t process, std::string bytes, bool last);
  void acknowledge(std::uint32_t process, frame::Stream stream, std::uint64_t offset);
  void acknowledge_exit(std::uint32_t process);
  void signal(std::uint32_t process, int number, frame::SignalTo to);
  void signal_all(int number);
  void resize(std::uint32_t process, frame::WindowSize size);

  // What the guest says. An error is a break of the protocol.
  Status take(const frame::Processes& told);
  Status take(const frame::Started& started);
  Status take(frame::Output output);
  Status take(const frame::OutputEnd& end);
  Status take(const frame::InputTaken& taken);
  Status take(const frame::Exited& exited);
  Status take(frame::Failed failed);
  // Wakes all who wait: the outbox has ended.
  void end();

  std::size_t size() const noexcept { return channels_.size(); }

 private:
  static std::size_t index_of(frame::Stream stream) { return stream == frame::Stream::out ? 0 : 1; }

  struct Channel {
    explicit Channel(const asio::any_io_executor& executor);

    // The guest owes nothing of it any more.
    bool is_over() const noexcept;

    std::deque<ProcessEvent> events;
    asio::steady_timer news;  // never fire: cancelled to wake who waits
    asio::steady_timer room;
    Acknowledging acknowledging = Acknowledging::by_next;
    bool terminal = false;
    std::uint64_t received[2] = {0, 0};
    std::uint64_t acknowledged[2] = {0, 0};
    std::optional<frame::Output> held;  // the event that the caller has; without its bytes
    std::uint64_t held_end = 0;
    bool exit_held = false;
    bool started = false;
    bool stream_ended[2] = {false, false};
    bool exited = false;  // or its start has failed
    bool failed = false;
    bool exit_acknowledged = false;
    std::uint64_t input_sent = 0;
    std::uint64_t input_taken = 0;
    bool input_ended = false;
  };
  using Held = std::shared_ptr<Channel>;

  Held make(std::uint32_t process);
  // Of a process that was never started: an error. Nothing: it is forgotten.
  Result<Held> told_of(std::uint32_t process) const;
  Held find(std::uint32_t process) const;
  static void push(Channel& to, ProcessEvent event);
  void acknowledge_held(std::uint32_t process, Channel& channel);
  void acknowledge_exit(std::uint32_t process, Channel& channel);
  Status take_known(const frame::KnownProcess& known);

  asio::any_io_executor executor_;
  Outbox& outbox_;
  Origin origin_;
  std::map<std::uint32_t, Held> channels_;
  std::optional<frame::Processes> known_;
  asio::steady_timer known_news_;
  std::uint32_t next_ = 1;
};

}  // namespace cordon::sandbox
