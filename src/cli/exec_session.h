// SPDX-License-Identifier: Apache-2.0
// A process in a sandbox of a node, as if it were started here: its output, our input and our
// signals, and its exit code.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "cli/exec_order.h"
#include "cli/output_follower.h"

namespace cordon::cli {

class ExecSession {
 public:
  // All outlive it.
  ExecSession(const asio::any_io_executor& executor, const Node& node, const ExecOrder& order,
              Context& context);

  // The exit code: the process's own, or why there is none.
  asio::awaitable<int> run();

 private:
  static asio::awaitable<int> run_in(async::Scope& scope, ExecSession*& self);
  // False: nothing runs, and why was told.
  asio::awaitable<bool> start();
  asio::awaitable<void> follow();
  asio::awaitable<void> pump_input();
  // False: nothing more is wanted.
  asio::awaitable<bool> send_input(std::string bytes, bool last);
  asio::awaitable<void> forward_signals();
  asio::awaitable<void> signal(int number);
  void tell_gone_bytes();
  void finish(int code);
  std::string where() const;

  const Node& node_;
  const ExecOrder& order_;
  Context& context_;
  asio::signal_set signals_;
  asio::steady_timer done_;  // never fires: cancelled by finish()
  OutputSink sink_;
  StandardStream input_;
  std::string path_;  // of the process
  std::string number_;
  std::unique_ptr<OutputFollower> follower_;  // once there is a process
  std::optional<int> code_;
};

}  // namespace cordon::cli
