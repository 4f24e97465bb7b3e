// SPDX-License-Identifier: Apache-2.0
// One request that is passed on to another server, and its answer passed back. Neither side is
// believed: both are read strictly and written anew.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "http/exchange.h"
#include "http/framing.h"
#include "http/serialise.h"
#include "http/upgraded.h"

namespace cordon::http {

// The way to the server that is asked. Destroying it has whoever waits for it get an error.
class FarEnd {
 public:
  virtual ~FarEnd() = default;

  // What has come; empty: its end.
  virtual async::Task<std::string> read_some() = 0;
  virtual async::Task<void> write(std::string bytes) = 0;
  // Nothing more will be written; reading goes on.
  virtual void shutdown_write() = 0;
};

struct ForwardTimes {
  std::chrono::nanoseconds head =
      std::chrono::seconds{60};  // of the answer, from the request's end
  std::chrono::nanoseconds idle = std::chrono::minutes{15};  // of silence in what follows
};

class Forward {
 public:
  struct Rules {
    std::string whom = "the server";             // in errors
    After after = After::close;                  // of the connection to it
    HeadLimits answer{};                         // of its heads
    std::function<Fields(Fields)> outer_fields;  // of its answer, as the client gets them
    // Answers that are not passed on but kept: refused(). None where it is empty.
    std::function<bool(const ResponseHead&)> withholds{};
    ForwardTimes times{};
  };
  // `exchange` outlives it.
  Forward(const asio::any_io_executor& executor, Exchange& exchange, std::unique_ptr<FarEnd> far,
          Rules rules);
  Forward(const Forward&) = delete;
  Forward& operator=(const Forward&) = delete;

  // `inner` goes there with the client's body, or with `body` where that was read already.
  // `timeout`: it took too long. Other errors: it has gone, or speaks no HTTP. Where the answer had
  // begun it breaks off.
  async::Task<void> run(RequestHead inner, std::optional<std::string> body = {});

  struct Withheld {
    ResponseHead head;
    std::string body;
  };
  // After run() has succeeded, and nothing was answered; else nothing.
  const std::optional<Withheld>& withheld() const noexcept { return withheld_; }

  // The connection, where another request may follow on it; nothing: none may.
  std::unique_ptr<FarEnd> take_back();
  // Whether it has said anything at all.
  bool was_answered() const noexcept { return was_answered_; }

 private:
  static async::Task<void> run_in(async::Scope& scope, Forward*& self, std::string& head);
  async::Task<void> converse(async::Scope& scope, std::string bytes);
  asio::awaitable<void> watch();
  asio::awaitable<void> pump_body();
  async::Task<ResponseHead> read_head();
  async::Task<void> pass_body(ResponseHead answer, Framing framing);
  async::Task<void> withhold(ResponseHead answer, Framing framing);
  // All of the body by `framing`, piece by piece.
  using Take = std::function<async::Task<void>(std::string_view piece)>;
  async::Task<void> read_body(Framing framing, Take take);
  async::Task<void> relay(async::Scope& scope, ResponseHead answer);
  asio::awaitable<void> pump_client();
  // What the server says next, in `held_`; nothing in it: the end.
  async::Task<void> fill();
  async::Task<void> give(std::string bytes);
  Error gone() const;
  void allow(std::chrono::nanoseconds time) { deadline_ = Ticks::clock::now() + time; }

  Exchange& exchange_;
  std::unique_ptr<FarEnd> far_;  // nothing: given up
  Rules rules_;
  RequestHead inner_;
  std::optional<std::string> body_;
  Framing sent_;  // of the request
  bool upgrades_ = false;
  bool is_late_ = false;
  bool is_sent_ = false;   // all of the request
  bool is_whole_ = false;  // the answer came to its own end, and nothing behind it
  bool is_kept_ = false;   // the server would take another request
  bool was_answered_ = false;
  Ticks deadline_;
  asio::steady_timer look_;
  std::string held_;
  std::unique_ptr<Upgraded> upgraded_;
  std::optional<Withheld> withheld_;
};

}  // namespace cordon::http
