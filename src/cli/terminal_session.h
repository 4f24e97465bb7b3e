// SPDX-License-Identifier: Apache-2.0
// A process of a node that has a terminal, at ours: keys, window size and screen, over the death of
// the node too.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "cli/exec_order.h"
#include "cli/node_socket.h"
#include "cli/relayed_screen.h"

namespace cordon::cli {

// Before: is_at_terminal(). A session from its beginning to its end, with a loop of its own; the
// exit code is the context's.
void run_at_terminal(const Node& node, const ExecOrder& order, Context& context);

class TerminalSession {
 public:
  // All outlive it.
  TerminalSession(const asio::any_io_executor& executor, const Node& node, const ExecOrder& order,
                  Context& context, RelayedScreen& screen);

  // The exit code: the process's own, or why there is none. Our terminal is as it was before.
  asio::awaitable<int> run();

 private:
  static asio::awaitable<int> run_in(async::Scope& scope, TerminalSession*& self);
  asio::awaitable<void> follow(async::Scope& scope);
  // Until the connection ends. The end of the process is kept in `end_`.
  async::Task<void> hear(std::shared_ptr<NodeSocket> socket);
  async::Task<void> take_event(const std::string& text, NodeSocket& socket);
  async::Task<void> acknowledge(NodeSocket& socket);
  // Until it is worth trying again. `unavailable`: it was away for too long.
  async::Task<void> outlast();
  asio::awaitable<void> pump_input();
  asio::awaitable<void> watch_size();
  asio::awaitable<void> watch_signals();
  async::Task<void> say_size();
  // What is told while the terminal is raw.
  void tell(std::string_view words);
  asio::awaitable<void> conclude();
  void leave_process(int code);
  void finish(int code);
  std::string path() const;

  const Node& node_;
  const ExecOrder& order_;
  Context& context_;
  RelayedScreen& screen_;
  asio::signal_set changes_;
  asio::signal_set ends_;
  asio::steady_timer ended_;  // never fires: cancelled by finish()
  std::string number_;
  std::shared_ptr<NodeSocket> socket_;  // nothing: the node is away; who sends holds it too
  std::optional<boost::json::value> end_;
  std::optional<NodeAnswer> refusal_;
  std::optional<std::chrono::steady_clock::time_point> lost_since_;
  bool has_told_loss_ = false;
  std::optional<int> code_;
};

}  // namespace cordon::cli
