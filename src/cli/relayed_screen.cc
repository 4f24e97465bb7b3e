// SPDX-License-Identifier: Apache-2.0
#include "cli/relayed_screen.h"

#include <algorithm>

#include <boost/asio/write.hpp>

#include "async/waiting.h"
#include "os/standard_streams.h"
#include "wire/attach_message.h"

namespace cordon::cli {
namespace {

wire::TerminalSize wire_size_of(const terminal::LocalTerminal& terminal) {
  const auto size = terminal.size();
  if (!size || size->rows == 0 || size->columns == 0) return {};
  constexpr auto kMost = static_cast<std::uint16_t>(wire::kMostTerminalSide);
  return {std::min(size->rows, kMost), std::min(size->columns, kMost)};
}

}  // namespace

bool is_at_terminal() noexcept {
  return os::is_standard_terminal(0) && os::is_standard_terminal(1);
}

wire::TerminalSize own_terminal_size() {
  const auto standard = os::open_standard(0);
  if (!standard) return {};
  const auto terminal = terminal::LocalTerminal::open(*standard);
  return terminal ? wire_size_of(*terminal) : wire::TerminalSize{};
}

Result<RelayedScreen> RelayedScreen::open(const asio::any_io_executor& executor, bool raw) {
  TRY(const os::Fd standard, os::open_standard(0));
  TRY(terminal::LocalTerminal terminal, terminal::LocalTerminal::open(standard));
  TRY(os::Fd copy, os::duplicate(terminal.fd()));
  return RelayedScreen{executor, std::move(terminal), std::move(copy), raw};
}

RelayedScreen::RelayedScreen(const asio::any_io_executor& executor,
                             terminal::LocalTerminal terminal, os::Fd copy, bool raw)
    : terminal_{std::move(terminal)}, stream_{executor, copy.release()}, raw_{raw} {}

wire::TerminalSize RelayedScreen::size() const { return wire_size_of(terminal_); }

asio::awaitable<std::optional<std::string>> RelayedScreen::keys() {
  std::string buffer(4096, '\0');
  const auto [error, count] = co_await stream_.async_read_some(asio::buffer(buffer), async::kQuiet);
  if (error) co_return std::nullopt;
  buffer.resize(count);
  co_return buffer;
}

async::Task<void> RelayedScreen::show(std::string_view frame) {
  CO_TRY(wire::OutputFrame output, wire::read_output_frame(frame));
  if (output.is_error) co_return Error{Errc::invalid, "the node sent errors of a terminal"};
  const std::uint64_t wanted = at_.value_or(output.offset);
  if (output.offset > wanted) gone_ += output.offset - wanted;
  const std::uint64_t known = output.offset < wanted ? wanted - output.offset : 0;
  if (known >= output.bytes.size()) co_return Status{};
  output.bytes.remove_prefix(static_cast<std::size_t>(known));
  at_ = output.offset + known + output.bytes.size();
  unacknowledged_ += output.bytes.size();
  std::string shown;
  if (raw_) {
    shown = output.bytes;
  } else {
    filter_.feed(output.bytes, shown);
    terminal_.follow(filter_);
  }
  const auto [error, count] =
      co_await asio::async_write(stream_, asio::buffer(shown), async::kQuiet);
  if (error) co_return Error{Errc::unavailable, "our terminal has gone"};
  co_return Status{};
}

void RelayedScreen::end_at(std::uint64_t written) {
  if (at_ && written > *at_) gone_ += written - *at_;
}

}  // namespace cordon::cli
