// SPDX-License-Identifier: Apache-2.0
// One request and its answer, as a handler sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "async/task.h"
#include "http/head.h"
#include "http/peer.h"
#include "http/request_body.h"
#include "http/serialise.h"
#include "http/server_limits.h"
#include "http/stream.h"

namespace cordon::http {

// Lives as long as its handler runs, in the loop's thread. When the client is gone the handler is
// cancelled: it is thrown out of what it waits for.
class Exchange {
 public:
  struct Server {
    const ServerTimes& times;
    const ServerLimits& limits;
    const bool& is_draining;
    std::function<std::string_view()> date;
    std::function<Fields()> also{};  // said with each answer; empty: nothing
  };
  Exchange(RequestHead head, const Peer& peer, Stream& stream, SharedInbox& inbox,
           const Server& server);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Its target is in origin form, or `*`.
  const RequestHead& head() const noexcept { return head_; }
  const Peer& peer() const noexcept { return peer_; }

  // What fails here the handler may return as its own failure: the client is then told 413, 408 or
  // 400, and the connection ends. All as in request_body.h.
  async::Task<std::string> read_body(std::size_t most) { return body_.read_all(most); }
  async::Task<std::size_t> read_some(std::span<char> room) { return body_.read_some(room); }
  void allow_slow_body() noexcept { body_.allow_slowness(); }

  // The whole answer. Fields that frame it or concern the connection are not the handler's to set.
  // Of an answer to HEAD, and of 204 and 304, no body is sent. Errc::invalid: it cannot be written
  // as given, and nothing was.
  async::Task<void> answer(int status, Fields fields, std::string body);

  // Or in pieces: begin, write as often as wanted, finish. The head goes out at once. With `length`
  // the pieces have as many bytes together (of an answer to HEAD there may be none); without, they
  // are chunks. A handler that does not
  // finish has the client see an answer that breaks off.
  async::Task<void> begin(int status, Fields fields, std::optional<std::uint64_t> length = {});
  // `piece` stays where it is until it returns.
  async::Task<void> write(std::string_view piece);
  async::Task<void> finish();

  // What was begun is not whole, by no fault of the handler's: the client sees it break off.
  void break_off() noexcept {
    if (state_ == State::streaming) state_ = State::broken;
  }

  // Whether the server ends when it can: what could last for long better ends now.
  bool is_draining() const noexcept { return server_.is_draining; }
  // Whether its body could not be read: the server tells the client why.
  bool has_faulty_body() const noexcept { return body_.fault() != 0; }
  // Whether a head was sent, or is about to be.
  bool is_answered() const noexcept { return state_ != State::unanswered; }

 private:
  friend class Session;
  friend class WebSocket;
  friend class Upgraded;
  enum class State : std::uint8_t {
    unanswered,
    streaming,
    answered,
    upgraded,  // it speaks no HTTP any more
    broken,    // what was sent is not whole
  };

  After after() const noexcept;
  async::Task<void> send(std::span<const char> bytes);
  Result<std::string> head_bytes(int status, Fields fields, const Framing& framing, After after);

  RequestHead head_;
  const Peer& peer_;
  Stream& stream_;
  SharedInbox& inbox_;
  const Server& server_;
  RequestBody body_;
  State state_ = State::unanswered;
  bool keeps_ = false;  // decided with the head of the answer
  Framing sent_;        // how the answer is framed
  std::uint64_t left_ = 0;
};

using Handler = std::function<async::Task<void>(Exchange&)>;

}  // namespace cordon::http
