// SPDX-License-Identifier: Apache-2.0
// A process at one WebSocket: what it writes goes out, what the client says goes in.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "http/websocket.h"
#include "node/resident_process.h"
#include "token/operation.h"
#include "wire/attach_message.h"

namespace cordon::api {

struct AttachRules {
  node::Offsets from{};      // the first bytes that are wanted
  bool acknowledges = true;  // what was sent counts as received
  bool is_binary = false;    // output as frames of bytes, else as lines of JSON
  bool takes_input = false;  // and resizes, and signals
  // Whether the client may do what is not its route's own operation.
  std::function<Status(token::Operation)> may;
};

class Attachment {
 public:
  // Both outlive it.
  Attachment(const asio::any_io_executor& executor, http::WebSocket& socket,
             node::ResidentProcess& process, AttachRules rules);
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  // Until the process has ended and all of it was told, or the client leaves.
  async::Task<void> run();

 private:
  static async::Task<void> run_in(async::Scope& scope, Attachment*& self);
  async::Task<void> hear();
  // Errors of the client: it is told, and the connection ends.
  async::Task<void> take(http::Message message);
  async::Task<void> take(const wire::AcknowledgeMessage& message);
  async::Task<void> take(wire::InputMessage message);
  async::Task<void> take(const wire::EndMessage& message);
  async::Task<void> take(const wire::ResizeMessage& message);
  async::Task<void> take(const wire::SignalRequest& message);

  asio::awaitable<void> pump_output();
  async::Task<void> send_what_is_there();
  async::Task<void> send_end();

  asio::awaitable<void> pump_input();
  async::Task<void> give(std::string bytes, bool last);
  // What was not done; the connection goes on.
  async::Task<void> tell(const Error& error);

  http::WebSocket& socket_;
  node::ResidentProcess& process_;
  AttachRules rules_;
  node::Offsets at_;
  struct Input {
    std::string bytes;
    bool is_last = false;
  };
  std::deque<Input> input_;    // that waits to be taken
  std::size_t waiting_ = 0;    // bytes of it
  asio::steady_timer queued_;  // never fire: cancelled to wake who waits
  asio::steady_timer room_;
  std::uint64_t taken_ = 0;
  std::uint64_t told_taken_ = 0;
  bool is_input_refused_ = false;
};

}  // namespace cordon::api
