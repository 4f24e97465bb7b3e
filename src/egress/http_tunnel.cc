// SPDX-License-Identifier: Apache-2.0
#include "egress/http_tunnel.h"

#include "async/scope.h"
#include "egress/body_mover.h"

namespace cordon::egress {
namespace {

struct Way {
  TunnelEnd& from;
  TunnelEnd& to;
  HttpGate& gate;
  Direction direction;
  std::uint64_t moved = 0;
};

// Whether `from` has ended properly.
asio::awaitable<bool> move_all(Way& way) {
  for (;;) {
    if (way.from.inbox.empty()) {
      const auto more = co_await way.from.inbox.fill();
      if (!more) co_return false;
      if (!*more) co_return true;
    }
    const auto bytes = way.from.inbox.bytes();
    if (co_await spend(way.gate, way.direction, bytes.size())) co_return false;
    if (!co_await way.to.stream.write(bytes)) co_return false;
    way.moved += bytes.size();
    way.from.inbox.drop(bytes.size());
  }
}

asio::awaitable<void> run(Way& way) {
  if (co_await move_all(way)) {
    static_cast<void>(co_await way.to.stream.shut());
    co_return;
  }
  // Half of a broken tunnel is of no use: the other way ends at its next byte.
  way.from.stream.close();
  way.to.stream.abort();
}

asio::awaitable<bool> both(async::Scope& scope, Way*& out, Way*& in) {
  scope.spawn(run(*out));
  co_await run(*in);
  co_return true;
}

}  // namespace

asio::awaitable<TunnelUse> tunnel(TunnelEnd client, TunnelEnd host, HttpGate& gate) {
  Way out{.from = client, .to = host, .gate = gate, .direction = Direction::out};
  Way in{.from = host, .to = client, .gate = gate, .direction = Direction::in};
  co_await async::in_scope(both, &out, &in);
  co_return TunnelUse{.out = out.moved, .in = in.moved};
}

}  // namespace cordon::egress
