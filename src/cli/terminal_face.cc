// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_face.h"

#include <csignal>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>

#include "async/waiting.h"
#include "os/standard_streams.h"
#include "terminal/escape_filter.h"
#include "terminal/local_terminal.h"

namespace cordon::cli {
namespace {

frame::WindowSize frame_size_of(const terminal::LocalTerminal& terminal) {
  const auto size = terminal.size();
  if (!size || size->rows == 0 || size->columns == 0) return {};
  return {size->rows, size->columns};
}

class TerminalFace final : public CallerFace {
 public:
  TerminalFace(const asio::any_io_executor& executor, terminal::LocalTerminal terminal, os::Fd copy,
               bool raw)
      : terminal_{std::move(terminal)},
        stream_{executor, copy.release()},
        changes_{executor, SIGWINCH, SIGCONT},
        ends_{executor},
        raw_{raw} {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ends_.add(number);
  }

  std::optional<frame::WindowSize> terminal() const override { return frame_size_of(terminal_); }
  void leave() override { terminal_.leave(); }
  void begin(sandbox::Process& process) override { process_ = &process; }
  async::Task<void> output(frame::Stream stream, std::string bytes) override;
  asio::awaitable<void> pump_input(sandbox::Process& process) override;
  asio::awaitable<void> until_stopped() override;

 private:
  void follow_changes();

  terminal::LocalTerminal terminal_;
  terminal::EscapeFilter filter_;
  asio::posix::stream_descriptor stream_;
  asio::signal_set changes_;
  asio::signal_set ends_;
  bool raw_;
  sandbox::Process* process_ = nullptr;
};

async::Task<void> TerminalFace::output(frame::Stream, std::string bytes) {
  std::string shown;
  if (raw_) {
    shown = std::move(bytes);
  } else {
    filter_.feed(bytes, shown);
    terminal_.follow(filter_);
  }
  const auto [error, count] =
      co_await asio::async_write(stream_, asio::buffer(shown), async::kQuiet);
  if (error) co_return Error{Errc::unavailable, "the caller's terminal"};
  co_return Status{};
}

void TerminalFace::follow_changes() {
  changes_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    if (number == SIGCONT) static_cast<void>(terminal_.resume());
    if (process_ != nullptr) process_->resize(frame_size_of(terminal_));
    follow_changes();
  });
}

asio::awaitable<void> TerminalFace::pump_input(sandbox::Process& process) {
  follow_changes();
  std::string buffer(4096, '\0');
  for (;;) {
    const auto [error, count] =
        co_await stream_.async_read_some(asio::buffer(buffer), async::kQuiet);
    if (error) break;
    if (!co_await process.write(buffer.substr(0, count), false)) break;
  }
  changes_.cancel();
}

asio::awaitable<void> TerminalFace::until_stopped() {
  const auto [error, number] = co_await ends_.async_wait(async::kQuiet);
  if (!error && process_ != nullptr) process_->signal(number, frame::SignalTo::group);
}

}  // namespace

Result<std::unique_ptr<CallerFace>> make_terminal_face(const asio::any_io_executor& executor,
                                                       bool raw) {
  TRY(const os::Fd standard, os::open_standard(0));
  TRY(terminal::LocalTerminal terminal, terminal::LocalTerminal::open(standard));
  TRY_DO(terminal.enter());
  TRY(os::Fd copy, os::duplicate(terminal.fd()));
  return std::unique_ptr<CallerFace>{
      std::make_unique<TerminalFace>(executor, std::move(terminal), std::move(copy), raw)};
}

}  // namespace cordon::cli
