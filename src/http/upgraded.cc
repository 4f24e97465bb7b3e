// SPDX-License-Identifier: Apache-2.0
#include "http/upgraded.h"

#include <chrono>
#include <utility>

namespace cordon::http {

async::Task<std::unique_ptr<Upgraded>> Upgraded::accept(Exchange& exchange, ResponseHead answer) {
  if (exchange.is_answered()) co_return Error{Errc::internal, "a second answer"};
  CO_TRY(const std::string head,
         exchange.head_bytes(101, std::move(answer.fields), {.kind = Framing::Kind::tunnel},
                             After::upgrade));
  exchange.state_ = Exchange::State::upgraded;
  CO_TRY_DO(co_await exchange.send(head));
  co_return std::unique_ptr<Upgraded>{new Upgraded{exchange}};
}

async::Task<std::string> Upgraded::read_some() {
  SharedInbox& inbox = exchange_.inbox_;
  CO_TRY(const std::string_view bytes,
         co_await inbox.next(std::chrono::steady_clock::now() + kUnlimited));
  std::string taken{bytes};
  inbox.keep({});
  co_return taken;
}

}  // namespace cordon::http
