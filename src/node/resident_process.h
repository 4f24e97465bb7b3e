// SPDX-License-Identifier: Apache-2.0
// One process of a sandbox that lives on: what it wrote waits here until somebody has it for good.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

// How far a reader has come in each stream.
using Offsets = std::array<std::uint64_t, 2>;  // by frame::Stream

struct ProcessFacts {
  std::string program;        // without its directory
  bool has_terminal = false;  // and so no stream of its own for errors
  Offsets acknowledged{};     // before we came
  bool is_adopted = false;    // another node had it
};

// Used from the loop's thread only. What nobody has acknowledged is kept by the guest too, so that
// a node that comes back has it again; a process that is a ring ahead of its reader waits.
class ResidentProcess {
 public:
  // `process` is acknowledged by its caller.
  ResidentProcess(const asio::any_io_executor& executor, ProcessFacts facts,
                  std::unique_ptr<sandbox::Process> process);
  ResidentProcess(const ResidentProcess&) = delete;
  ResidentProcess& operator=(const ResidentProcess&) = delete;

  // Told how many bytes have come, of either stream; before follow(), in which it is called.
  void when_written(std::function<void(std::uint64_t)> act) { written_told_ = std::move(act); }

  // Hears the process until nothing more can come: spawned once, in its sandbox's scope.
  asio::awaitable<void> follow();

  // Bytes behind `at`, at most `most` of them, of whichever stream has some; nothing: not yet. They
  // begin later than `at` where another reader has acknowledged what was between.
  struct Piece {
    frame::Stream stream = frame::Stream::out;
    std::uint64_t offset = 0;
    std::string_view bytes;  // until the next co_await
  };
  std::optional<Piece> read(const Offsets& at, std::size_t most) const;
  // From the first byte that is still held: `exhausted`, bytes before it were acknowledged and are
  // gone; `invalid`: it lies behind what was written.
  Status can_read_from(const Offsets& at) const;

  // Of one that another node had: waits a moment until the guest has repeated what a client may
  // have heard there.
  asio::awaitable<void> catch_up(Offsets at);

  // Bytes before these are safe with the client. A smaller offset than before changes nothing.
  Status acknowledge(const Offsets& at);

  // Nobody asks about it any more: the guest may forget it. Before: it is over.
  void forget() { process_->acknowledge_exit(); }

  // Until there may be something new: bytes, an end, an exit. Also where the caller is cancelled.
  asio::awaitable<void> news();

  async::Task<void> write(std::string bytes, bool last) {
    return process_->write(std::move(bytes), last);
  }
  // Of one that is held nothing is heard: its sandbox is about to leave.
  void signal(int number, frame::SignalTo to) {
    if (!is_held_) process_->signal(number, to);
  }
  void hold(bool is_held) noexcept { is_held_ = is_held; }
  void resize(frame::WindowSize size) { process_->resize(size); }

  std::uint32_t number() const noexcept { return process_->number(); }
  const std::string& program() const noexcept { return facts_.program; }
  bool has_terminal() const noexcept { return facts_.has_terminal; }
  std::uint32_t pid() const noexcept { return pid_; }
  // Why it never ran, or why nothing more is known of it; empty: neither.
  const std::string& failure() const noexcept { return failure_; }
  const std::optional<frame::Failed>& failed() const noexcept { return failed_; }
  const std::optional<frame::Exited>& exited() const noexcept { return exited_; }
  const Offsets& written() const noexcept { return written_; }
  // The first bytes that were not acknowledged.
  Offsets held_from() const noexcept { return {held_[0].begin, held_[1].begin}; }
  // It has ended, and so have its streams: what is held is all that there will be.
  bool is_over() const noexcept { return is_over_; }

 private:
  struct Held {
    std::uint64_t begin = 0;  // offset of the first byte of `bytes`
    std::string bytes;
  };
  async::Task<void> reach(Offsets at);
  void take(sandbox::ProcessEvent event);
  void tell();

  ProcessFacts facts_;
  std::unique_ptr<sandbox::Process> process_;
  asio::steady_timer news_;  // never fires: cancelled when there is something new
  std::array<Held, 2> held_;
  Offsets written_{};
  std::function<void(std::uint64_t)> written_told_;
  std::array<bool, 2> ended_{};
  std::uint32_t pid_ = 0;
  std::string failure_;
  std::optional<frame::Failed> failed_;
  std::optional<frame::Exited> exited_;
  bool is_over_ = false;
  bool is_held_ = false;
};

}  // namespace cordon::node
