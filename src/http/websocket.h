// SPDX-License-Identifier: Apache-2.0
// One end of a WebSocket: messages in, messages out, and whether the other side still lives.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "http/exchange.h"
#include "http/shared_inbox.h"
#include "http/stream.h"
#include "http/websocket_frame.h"

namespace cordon::http {

struct WebSocketRules {
  std::size_t message = std::size_t{1} << 20U;                // of the other side's, at most
  std::chrono::nanoseconds ping = std::chrono::seconds{30};   // of silence, before it is asked
  std::chrono::nanoseconds pong = std::chrono::seconds{20};   // for an answer to that
  std::chrono::nanoseconds write = std::chrono::seconds{30};  // of a peer that does not read
  std::chrono::nanoseconds close = std::chrono::seconds{5};   // for its farewell
};

// Used from the loop's thread only. One task receives; any number send.
class WebSocket {
 public:
  // Where frames of a client get their masks; empty: this is a server.
  using Masks = std::function<MaskKey()>;

  // Answers the handshake of `exchange`, which outlives it; `protocol` is one that the client has
  // offered, or empty. Errc::invalid: it was no handshake, and nothing was answered.
  static async::Task<std::unique_ptr<WebSocket>> accept(Exchange& exchange, std::string protocol,
                                                        WebSocketRules rules);

  // Over a stream on which the handshake is done. All outlive it.
  WebSocket(const asio::any_io_executor& executor, Stream& stream, SharedInbox& inbox,
            const WebSocketRules& rules, Masks masks);

  // The next text or binary; nothing: the other side has said farewell. Pings are answered, and
  // sent, while this waits: it is how a peer that is no more is found (Errc::timeout).
  // Errc::invalid: it broke the protocol, and was told.
  async::Task<std::optional<Message>> receive();

  // `data` stays where it is until it returns. Text must be UTF-8: the other side would refuse it.
  async::Task<void> send(Opcode kind, std::string_view data);

  // Says farewell and waits for the answer, while nobody receives. Further calls do nothing.
  async::Task<void> close(CloseCode code, std::string reason);

  // Says farewell while another task receives: that one gets the answer to it as the end, or
  // Errc::timeout where none comes. What still arrives before is given out, and is nobody's to use.
  async::Task<void> farewell(CloseCode code, std::string reason);
  bool has_said_close() const noexcept { return has_said_close_; }

  // By which code the other side has closed; nothing: it has not.
  std::optional<std::uint16_t> closed_by() const noexcept { return closed_by_; }

 private:
  async::Task<void> put(Opcode kind, std::string_view data);
  async::Task<void> say_close(CloseCode code, std::string_view reason);
  // Whether it was one for the caller of receive().
  async::Task<bool> take(const Message& message);

  Stream& stream_;
  SharedInbox& inbox_;
  WebSocketRules rules_;
  Masks masks_;
  MessageReader reader_;
  asio::steady_timer free_;  // never fires: cancelled when the stream may be written to again
  bool is_writing_ = false;
  bool has_said_close_ = false;
  bool is_over_ = false;
  std::optional<std::uint16_t> closed_by_;
};

}  // namespace cordon::http
