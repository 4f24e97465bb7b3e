// SPDX-License-Identifier: Apache-2.0
#include "cli/pipe_face.h"

#include <array>
#include <csignal>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/descriptor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "os/standard_streams.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);
// One of our standard streams. It is shared with whoever started us: it is waited for, and never
// made non-blocking.
class Standard {
 public:
  Standard(const asio::any_io_executor& executor, int number, os::Ready what) : number_{number} {
    // A file is always ready and cannot be waited for.
    if (!os::can_wait_for(number)) return;
    if (auto ready = os::readiness_of(number, what)) waiter_.emplace(executor, ready->release());
  }
  asio::awaitable<bool> ready() {
    if (!waiter_) {
      // A turn for the others: a file without end must not keep the loop to itself.
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
      co_return true;
    }
    const auto [error] =
        co_await waiter_->async_wait(asio::posix::descriptor_base::wait_read, kQuiet);
    co_return !error;
  }
  int number() const { return number_; }

 private:
  int number_;
  std::optional<asio::posix::stream_descriptor> waiter_;
};

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
  Standard input_, out_, err_;
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
  Standard& to = out ? out_ : err_;
  for (std::string_view rest = bytes; !rest.empty();) {
    if (!co_await to.ready()) {
      co_return Error{Errc::unavailable, "the caller's stream"};
    }
    CO_TRY(const std::size_t count, os::write_when_ready(to.number(), rest));
    rest.remove_prefix(count);
  }
  co_return Status{};
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
    const auto [error, number] = co_await signals_.async_wait(kQuiet);
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
