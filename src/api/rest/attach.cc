// SPDX-License-Identifier: Apache-2.0
// A process over WebSocket: its output, and for who may, its input on the same connection.
#include <boost/asio/this_coro.hpp>

#include "api/rest/attachment.h"
#include "api/rest/reading.h"
#include "api/rest/rest.h"
#include "api/rest/rights.h"
#include "http/upgrade.h"

namespace cordon::api {
namespace {

constexpr http::WebSocketRules kRules{.message = wire::kLargestMessage};

Result<bool> is_binary(const Call& call) {
  const auto frames = call.query.find("frames");
  if (frames == call.query.end() || frames->second == "text") return false;
  if (frames->second == "binary") return true;
  return Error{Errc::invalid, "query: `frames` is \"text\" or \"binary\""};
}

}  // namespace

async::Task<void> Rest::attach_process(Call& call) { return attach(call, true); }

async::Task<void> Rest::attach(Call& call, bool takes_input) {
  CO_TRY_DO(only_known(call, {"stdout", "stderr", "acknowledge", "frames"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY_DO(http::check_handshake(call.exchange.head()));
  const std::string sandbox = call.places.front();
  const auto may = [this, &call, sandbox](token::Operation operation) {
    const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
    return authorise(
        call.authority,
        token::Query{.operation = operation, .tenant = call.tenant, .sandbox = sandbox}, true, now);
  };
  // What it is told is what others read.
  if (takes_input) CO_TRY_DO(may(token::Operation::process_read));
  CO_TRY(const auto found, process(*resident, call));
  AttachRules rules{.takes_input = takes_input, .may = may};
  CO_TRY(rules.is_binary, is_binary(call));
  CO_TRY_DO(co_await catch_up(call, *found));
  CO_TRY(const Reading reading, reading_of(call, *found));
  rules.from = reading.from;
  rules.acknowledges = reading.acknowledges;
  CO_TRY(const auto socket, co_await http::WebSocket::accept(call.exchange, {}, kRules));
  Attachment attachment{co_await asio::this_coro::executor, *socket, *found, std::move(rules)};
  co_return co_await attachment.run();
}

}  // namespace cordon::api
