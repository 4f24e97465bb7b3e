// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_face.h"

#include <csignal>
#include <utility>

#include <boost/asio/signal_set.hpp>

#include "async/scope.h"
#include "async/waiting.h"
#include "cli/standard_stream.h"
#include "os/standard_streams.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

// Held for one side before the other is listened to no more, and what ends the run: somebody sends
// and does not read.
constexpr std::size_t kEnough = std::size_t{1} << 20U;
constexpr std::size_t kTooMuch = std::size_t{64} << 20U;
constexpr std::size_t kPiece = std::size_t{64} << 10U;

// Bytes on their way. Used from the loop's thread only.
class Outbox {
 public:
  explicit Outbox(const asio::any_io_executor& executor) : changed_{executor, async::kNever} {}

  void put(std::string_view bytes) {
    if (is_given_up_) return;
    held_ += bytes;
    changed_.cancel();
  }
  void end() {
    is_ended_ = true;
    changed_.cancel();
  }
  std::size_t size() const noexcept { return held_.size(); }

  // What is to be written now; empty: nothing more comes.
  asio::awaitable<std::string> take() {
    is_writing_ = false;
    changed_.cancel();
    while (held_.empty() && !is_ended_) co_await changed_.async_wait(async::kQuiet);
    is_writing_ = !held_.empty();
    co_return std::exchange(held_, {});
  }
  // Until no more than `most` bytes wait; 0: until all are written.
  asio::awaitable<void> until_below(std::size_t most) {
    while (held_.size() > most || (most == 0 && is_writing_ && !is_given_up_))
      co_await changed_.async_wait(async::kQuiet);
  }
  // Nobody takes them any more.
  void give_up() {
    is_given_up_ = true;
    held_.clear();
    changed_.cancel();
  }

 private:
  std::string held_;
  bool is_ended_ = false;
  bool is_writing_ = false;
  bool is_given_up_ = false;
  asio::steady_timer changed_;  // never fires: cancelled when something has changed
};

class McpFace final : public CallerFace {
 public:
  McpFace(const asio::any_io_executor& executor, StartedFilter filter, TakeAct take,
          TellFailure tell)
      : link_{executor, std::move(filter)},
        take_act_{std::move(take)},
        tell_{std::move(tell)},
        input_{executor, 0, os::Ready::read},
        out_{executor, 1, os::Ready::write},
        err_{executor, 2, os::Ready::write},
        signals_{executor},
        to_client_{executor},
        to_server_{executor} {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signals_.add(number);
  }

  std::optional<frame::WindowSize> terminal() const override { return std::nullopt; }
  void leave() override {}
  void begin(sandbox::Process& process) override { process_ = &process; }
  async::Task<void> output(frame::Stream stream, std::string bytes) override;
  asio::awaitable<void> pump_input(sandbox::Process& process) override;
  asio::awaitable<void> until_stopped() override;

 private:
  Status take(const mcp::FromFilter& act);
  asio::awaitable<bool> tell_filter(mcp::ToFilter frame);
  asio::awaitable<void> read_client();
  asio::awaitable<void> write_client();
  asio::awaitable<void> write_server(sandbox::Process& process);
  void fail(const Error& error);

  FilterLink link_;
  TakeAct take_act_;
  TellFailure tell_;
  StandardStream input_, out_, err_;
  asio::signal_set signals_;
  Outbox to_client_, to_server_;
  terminal::TextFilter err_filter_;
  sandbox::Process* process_ = nullptr;
  bool is_failed_ = false;
};

void McpFace::fail(const Error& error) {
  if (is_failed_) return;
  is_failed_ = true;
  tell_(error);
  to_client_.give_up();
  to_server_.give_up();
  signals_.cancel();
}

Status McpFace::take(const mcp::FromFilter& act) {
  if (const auto* const client = std::get_if<mcp::ToClient>(&act)) {
    to_client_.put(client->bytes);
  } else if (const auto* const server = std::get_if<mcp::ToServer>(&act)) {
    to_server_.put(server->bytes);
  } else {
    return take_act_(act);
  }
  if (to_client_.size() > kTooMuch) return Error{Errc::exhausted, "the client does not read"};
  if (to_server_.size() > kTooMuch) return Error{Errc::exhausted, "the server does not read"};
  return {};
}

asio::awaitable<bool> McpFace::tell_filter(mcp::ToFilter frame) {
  if (is_failed_) co_return false;
  const FilterLink::Take act = [this](const mcp::FromFilter& one) { return take(one); };
  const Status done = co_await link_.tell(std::move(frame), act);
  if (!done) fail(done.error());
  co_return done.has_value();
}

async::Task<void> McpFace::output(frame::Stream stream, std::string bytes) {
  if (stream == frame::Stream::err) {
    std::string shown;
    err_filter_.feed(bytes, shown);
    co_return co_await err_.write(std::move(shown));
  }
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kPiece);
    rest.remove_prefix(piece.size());
    mcp::ToFilter frame = mcp::FromServer{std::string{piece}};
    if (!co_await tell_filter(std::move(frame)))
      co_return Error{Errc::unavailable, "the filter has ended"};
  }
  // The run may be over after this.
  co_await to_client_.until_below(0);
  co_return Status{};
}

asio::awaitable<void> McpFace::read_client() {
  std::string buffer(kPiece, '\0');
  while (true) {
    co_await to_client_.until_below(kEnough);
    co_await to_server_.until_below(kEnough);
    if (!co_await input_.ready()) break;
    const auto count = os::read_when_ready(input_.number(), buffer);
    if (!count || *count == 0) break;
    mcp::ToFilter frame = mcp::FromClient{buffer.substr(0, *count)};
    if (!co_await tell_filter(std::move(frame))) co_return;
  }
  to_server_.end();
}

asio::awaitable<void> McpFace::write_client() {
  while (true) {
    std::string bytes = co_await to_client_.take();
    if (bytes.empty()) co_return;
    const Status written = co_await out_.write(std::move(bytes));
    if (!written) {
      fail(Error{Errc::unavailable, "the client has gone"});
      co_return;
    }
  }
}

asio::awaitable<void> McpFace::write_server(sandbox::Process& process) {
  while (true) {
    std::string bytes = co_await to_server_.take();
    const bool last = bytes.empty();
    const Status written = co_await process.write(std::move(bytes), last);
    if (last) co_return;
    if (!written) {
      to_server_.give_up();
      co_return;
    }
  }
}

asio::awaitable<void> McpFace::pump_input(sandbox::Process& process) {
  static_cast<void>(co_await async::in_scope(
      [](async::Scope& scope, McpFace* face, sandbox::Process* of) -> async::Task<void> {
        scope.spawn(face->write_client());
        scope.spawn(face->write_server(*of));
        co_await face->read_client();
        co_return Status{};
      },
      this, &process));
}

asio::awaitable<void> McpFace::until_stopped() {
  // The first is the program's to answer; the second ends the run.
  for (int seen = 0; seen < 2 && !is_failed_; ++seen) {
    const auto [error, number] = co_await signals_.async_wait(async::kQuiet);
    if (error) co_return;
    if (process_ != nullptr) process_->signal(number, frame::SignalTo::group);
  }
}

}  // namespace

std::unique_ptr<CallerFace> make_mcp_face(const asio::any_io_executor& executor,
                                          StartedFilter filter, TakeAct take, TellFailure tell) {
  return std::make_unique<McpFace>(executor, std::move(filter), std::move(take), std::move(tell));
}

}  // namespace cordon::cli
