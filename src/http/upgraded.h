// SPDX-License-Identifier: Apache-2.0
// The connection of a request that was upgraded, as bytes: for who passes a WebSocket on and does
// not speak it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/task.h"
#include "http/exchange.h"

namespace cordon::http {

// Used from the loop's thread only. One task reads, one writes.
class Upgraded {
 public:
  // Answers the handshake of `exchange`, which outlives it, as another server has answered it: with
  // 101. Before: check_accepted (upgrade.h) holds.
  static async::Task<std::unique_ptr<Upgraded>> accept(Exchange& exchange, ResponseHead answer);

  // What came; empty: the other side has ended what it says. No limit of time is its own.
  async::Task<std::string> read_some();
  // All of `bytes`, which stay where they are until it returns.
  async::Task<void> write(std::string_view bytes) { return exchange_.send(bytes); }

 private:
  explicit Upgraded(Exchange& exchange) : exchange_{exchange} {}

  Exchange& exchange_;
};

}  // namespace cordon::http
