// SPDX-License-Identifier: Apache-2.0
// Our terminal while a process of a node has it: what may be shown of its output, once and in
// order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "terminal/escape_filter.h"
#include "terminal/local_terminal.h"
#include "wire/requests.h"

namespace cordon::cli {

// Whether standard input and output both are a terminal.
bool is_at_terminal() noexcept;
// That of our terminal, within what a node takes; the usual one where there is none.
wire::TerminalSize own_terminal_size();

class RelayedScreen {
 public:
  // `invalid`: standard input is no terminal. `raw`: all bytes reach it, as the caller asked.
  static Result<RelayedScreen> open(const asio::any_io_executor& executor, bool raw);

  // As in terminal::LocalTerminal.
  Status enter() { return terminal_.enter(); }
  Status resume() { return terminal_.resume(); }
  void leave() noexcept { terminal_.leave(); }
  bool is_raw() const noexcept { return terminal_.is_raw(); }
  wire::TerminalSize size() const;

  // Keys; nothing: it has gone.
  asio::awaitable<std::optional<std::string>> keys();

  // One binary message of a node; of it what was not shown yet. `unavailable`: it has gone.
  async::Task<void> show(std::string_view frame);
  // The process has ended after so many bytes.
  void end_at(std::uint64_t written);

  // Of the process's output: where the next byte is that was not shown; nothing: not known yet.
  const std::optional<std::uint64_t>& at() const noexcept { return at_; }
  void begin_at(std::uint64_t offset) { at_ = offset; }
  // Bytes that were shown since the last call of acknowledged().
  std::uint64_t unacknowledged() const noexcept { return unacknowledged_; }
  void acknowledged() noexcept { unacknowledged_ = 0; }
  // Bytes that never came: somebody else acknowledged them.
  std::uint64_t gone() const noexcept { return gone_; }

 private:
  RelayedScreen(const asio::any_io_executor& executor, terminal::LocalTerminal terminal,
                os::Fd copy, bool raw);

  terminal::LocalTerminal terminal_;
  terminal::EscapeFilter filter_;
  asio::posix::stream_descriptor stream_;
  bool raw_;
  std::optional<std::uint64_t> at_;
  std::uint64_t unacknowledged_ = 0;
  std::uint64_t gone_ = 0;
};

}  // namespace cordon::cli
