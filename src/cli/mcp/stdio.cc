// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/stdio.h"

#include <csignal>
#include <deque>

#include <boost/asio/signal_set.hpp>

#include "async/waiting.h"
#include "cli/standard_stream.h"
#include "mcp/server/input_lines.h"
#include "os/standard_streams.h"

namespace cordon::cli {
namespace {

// For the last answers, where the client does not read.
constexpr std::chrono::seconds kLastAnswers{2};
// That wait for a client which does not read: what is no answer is dropped then.
constexpr std::size_t kMostWaiting = 256;

class StdioOutlet final : public Outlet {
 public:
  explicit StdioOutlet(const asio::any_io_executor& executor)
      : stream_{executor, 1, os::Ready::write} {}

  void say(std::string text) override {
    if (waiting_.size() < kMostWaiting) answer(std::move(text));
  }
  void answer(std::string text) override {
    if (text.empty() || is_broken_) return;
    waiting_.push_back(std::move(text) + '\n');
    news_.tell();
  }

  // One after the other, until it is closed and nothing waits.
  asio::awaitable<void> write_all() {
    while (!is_broken_ && !(is_closed_ && waiting_.empty())) {
      if (waiting_.empty()) {
        co_await news_.wait(Ticks::max());
        continue;
      }
      std::string text = std::move(waiting_.front());
      waiting_.pop_front();
      if (!co_await stream_.write(std::move(text))) is_broken_ = true;
      room_.tell();
    }
    is_done_ = true;
    done_.tell();
  }
  // Until it has room for more: a client that does not read is not read either.
  asio::awaitable<void> has_room() {
    while (!is_broken_ && waiting_.size() >= kMostWaiting) co_await room_.wait(Ticks::max());
  }
  void close() {
    is_closed_ = true;
    news_.tell();
  }
  asio::awaitable<void> done(Ticks deadline) {
    while (!is_done_ && std::chrono::steady_clock::now() < deadline) co_await done_.wait(deadline);
  }
  bool is_broken() const noexcept { return is_broken_; }

 private:
  StandardStream stream_;
  std::deque<std::string> waiting_;
  News news_, room_, done_;
  bool is_closed_ = false;
  bool is_broken_ = false;
  bool is_done_ = false;
};

struct Stdio {
  Stdio(const asio::any_io_executor& executor, Server& whose)
      : server{whose},
        input{executor, 0, os::Ready::read},
        outlet{std::make_shared<StdioOutlet>(executor)},
        signals{executor} {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signals.add(number);
  }

  Server& server;
  StandardStream input;
  std::shared_ptr<StdioOutlet> outlet;  // with the calls that are not answered
  std::shared_ptr<Conversation> conversation = std::make_shared<Conversation>();
  asio::signal_set signals;
  News over;
  bool is_over = false;

  void end() {
    is_over = true;
    over.tell();
  }
};

void take_lines(Stdio& stdio, mcp::server::InputLines& lines) {
  while (auto line = lines.next()) {
    if (line->is_too_long) {
      stdio.outlet->answer(mcp::server::problem_text(
          {},
          {mcp::server::kInvalidRequest, "a message is longer than 4 MiB, and was passed over"}));
    } else {
      stdio.server.take(stdio.conversation, mcp::server::read_message(line->text), stdio.outlet);
    }
  }
}

asio::awaitable<void> read_lines(Stdio& stdio) {
  mcp::server::InputLines lines{kLongestMessage};
  std::string buffer(std::size_t{64} << 10U, '\0');
  while (!stdio.outlet->is_broken() && co_await stdio.input.ready()) {
    const auto count = os::read_when_ready(stdio.input.number(), buffer);
    if (!count || *count == 0) break;
    lines.feed(std::string_view{buffer}.substr(0, *count));
    take_lines(stdio, lines);
    co_await stdio.outlet->has_room();
  }
  stdio.end();
}

asio::awaitable<void> heed_signals(Stdio& stdio) {
  const auto [error, number] = co_await stdio.signals.async_wait(async::kQuiet);
  if (!error) stdio.end();
}

}  // namespace

asio::awaitable<void> serve_stdio(Server& server) {
  Stdio stdio{co_await asio::this_coro::executor, server};
  co_await async::in_scope(
      [](async::Scope& own, Stdio*& all) -> asio::awaitable<bool> {
        own.spawn(all->outlet->write_all());
        own.spawn(read_lines(*all));
        own.spawn(heed_signals(*all));
        while (!all->is_over) co_await all->over.wait(Ticks::max());
        all->conversation->cancel_all();
        all->outlet->close();
        co_await all->outlet->done(std::chrono::steady_clock::now() + kLastAnswers);
        own.cancel();
        co_return true;
      },
      &stdio);
}

}  // namespace cordon::cli
