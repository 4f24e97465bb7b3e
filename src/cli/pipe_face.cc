// SPDX-License-Identifier: Apache-2.0
#include "cli/pipe_face.h"

#include <array>
#include <csignal>

#include <boost/asio/signal_set.hpp>

#include "async/waiting.h"
#include "cli/standard_stream.h"
#include "os/standard_streams.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

class PipeFace final : public CallerFace {
 public:
  PipeFace(const asio::any_io_executor& executor, bool raw)
      : input_{executor, 0, os::Ready::read},
        out_{executor, 1, os::Ready::write},
        err_{executor, 2, os::Ready::write},
        signals_{executor},
        filter_out_{!raw && os::is_standard_terminal(1)},
        filter_err_{!raw && os::is_standard_terminal(2)} {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signals_.add(number);
  }

  std::optional<frame::WindowSize> terminal() const override { return std::nullopt; }
  void leave() override {}
  void begin(sandbox::Process& process) override { process_ = &process; }
  async::Task<void> output(frame::Stream stream, std::string bytes) override;
  asio::awaitable<void> pump_input(sandbox::Process& process) override;
  asio::awaitable<void> until_stopped() override;

 private:
  StandardStream input_, out_, err_;
  asio::signal_set signals_;
  bool filter_out_, filter_err_;
  terminal::TextFilter out_filter_, err_filter_;
  sandbox::Process* process_ = nullptr;
};

async::Task<void> PipeFace::output(frame::Stream stream, std::string bytes) {
  const bool out = stream == frame::Stream::out;
  if (out ? filter_out_ : filter_err_) {
    std::string shown;
    (out ? out_filter_ : err_filter_).feed(bytes, shown);
    bytes = std::move(shown);
  }
  co_return co_await (out ? out_ : err_).write(std::move(bytes));
}

asio::awaitable<void> PipeFace::pump_input(sandbox::Process& process) {
  std::string buffer(std::size_t{64} << 10U, '\0');
  for (;;) {
    if (!co_await input_.ready()) co_return;
    const auto count = os::read_when_ready(input_.number(), buffer);
    const bool last = !count || *count == 0;
    const auto written =
        co_await process.write(last ? std::string{} : buffer.substr(0, *count), last);
    if (!written || last) co_return;
  }
}

asio::awaitable<void> PipeFace::until_stopped() {
  // The first is the program's to answer; the second ends the run.
  for (int seen = 0; seen < 2; ++seen) {
    const auto [error, number] = co_await signals_.async_wait(async::kQuiet);
    if (error) co_return;
    if (process_ != nullptr) process_->signal(number, frame::SignalTo::group);
  }
}

}  // namespace

Result<std::unique_ptr<CallerFace>> make_pipe_face(const asio::any_io_executor& executor,
                                                   bool raw) {
  return std::unique_ptr<CallerFace>{std::make_unique<PipeFace>(executor, raw)};
}

}  // namespace cordon::cli
