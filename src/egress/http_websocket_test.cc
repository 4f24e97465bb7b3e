// SPDX-License-Identifier: Apache-2.0
// Upgrades: by rule, to WebSocket, and to nothing else.
#include <gtest/gtest.h>

#include "egress/http_rig_test.h"

namespace cordon::egress {
namespace {

const std::string kHandshake =
    "GET /chat HTTP/1.1\r\nHost: api.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const std::string kAccepted =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

Judged<HttpPermission> with_websocket(const http::RequestHead&) {
  return HttpPermission{.websocket = true};
}

// Answers the handshake and says everything back, with a mark before it.
asio::awaitable<void> echo(http::Stream& stream, Inbox& inbox) {
  const auto head = co_await TestOrigin::read_head(inbox);
  EXPECT_EQ(http::only(head->fields, "upgrade"), "websocket");
  const std::string accepted = kAccepted + "hello";
  static_cast<void>(co_await stream.write(accepted));
  for (;;) {
    if (inbox.empty()) {
      const auto more = co_await inbox.fill();
      if (!more || !*more) break;
    }
    const std::string said = ">" + std::string{inbox.bytes()};
    inbox.drop(inbox.bytes().size());
    if (!co_await stream.write(said)) co_return;
  }
  static_cast<void>(co_await stream.write(std::string_view{"bye"}));
  static_cast<void>(co_await stream.shut());
}

asio::awaitable<std::string> hear(Rig& rig, std::size_t size) {
  std::string heard;
  while (heard.size() < size) {
    if (rig.inbox->empty()) {
      const auto more = co_await rig.inbox->fill();
      if (!more || !*more) break;
    }
    heard.append(rig.inbox->bytes());
    rig.inbox->drop(rig.inbox->bytes().size());
  }
  co_return heard;
}

TEST(HttpWebSocket, IsATunnelWhereARuleAllowsIt) {
  for (const bool tls : {true, false}) {
    in_rig({.tls = tls}, [](Rig& rig) -> asio::awaitable<void> {
      rig.gate.decide = with_websocket;
      rig.origin.script = echo;
      EXPECT_TRUE(co_await rig.connect());
      const auto answer = co_await rig.ask(kHandshake);
      EXPECT_EQ(answer->head.status, 101);
      EXPECT_EQ(co_await hear(rig, 5), "hello");
      EXPECT_TRUE(co_await rig.send("GET / HTTP/1.1\r\n\r\n"));  // only bytes now
      EXPECT_EQ(co_await hear(rig, 19), ">GET / HTTP/1.1\r\n\r\n");
      EXPECT_TRUE(co_await rig.stream->shut());
      EXPECT_EQ(co_await hear(rig, 100), "bye");
      EXPECT_EQ(rig.gate.judged.size(), 1U);
      asio::steady_timer timer{co_await asio::this_coro::executor, 20ms};
      co_await timer.async_wait(asio::use_awaitable);
      EXPECT_EQ(rig.gate.uses.size(), 1U);
      if (rig.gate.uses.empty()) co_return;
      EXPECT_TRUE(rig.gate.uses[0].websocket);
      EXPECT_GE(rig.gate.uses[0].bytes_out, 18U);
    });
  }
}

TEST(HttpWebSocket, IsRefusedWithoutARule) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(kHandshake);
    EXPECT_EQ(answer->head.status, 403);
    EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "websocket_not_allowed");
    EXPECT_EQ(rig.gate.dials, 0);
  });
}

TEST(HttpWebSocket, NeedsAProperHandshakeOnBothSides) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = with_websocket;
    EXPECT_TRUE(co_await rig.connect());
    std::string bad = kHandshake;
    bad.replace(bad.find("13"), 2, "12");
    EXPECT_EQ((co_await rig.ask(bad))->head.status, 400);
    EXPECT_EQ(rig.gate.dials, 0);
    rig.origin.respond = [](const Seen&) {
      return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n";
    };
    EXPECT_EQ((co_await rig.ask(kHandshake))->head.status, 502);
    // A host that declines speaks HTTP on, and so do we.
    rig.origin.respond = [](const Seen&) {
      return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    };
    EXPECT_EQ((co_await rig.ask(kHandshake))->head.status, 200);
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
    EXPECT_EQ(rig.gate.judged.size(), 4U);
  });
}

TEST(HttpWebSocket, OtherUpgradesAreNotAskedFor) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = with_websocket;
    EXPECT_TRUE(co_await rig.connect());
    const auto answer =
        co_await rig.ask(get("/",
                             "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                             "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"));
    EXPECT_EQ(answer->head.status, 200);
    EXPECT_EQ(rig.origin.seen.at(0).head.fields.size(), 0U);
  });
}

TEST(HttpWebSocket, EndsWithTheBudget) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = with_websocket;
    rig.gate.most_out = 1000;
    rig.origin.script = echo;
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(kHandshake))->head.status, 101);
    EXPECT_TRUE(co_await rig.send(std::string(900, 'x')));
    EXPECT_TRUE(co_await rig.is_ended());
  });
}

TEST(HttpWebSocket, EndsWhenBothSidesAreSilent) {
  const RigSetup quick{.times = {.idle = 150ms}};
  in_rig(quick, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = with_websocket;
    rig.origin.script = echo;
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(kHandshake))->head.status, 101);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {  // while one speaks neither is silent
      asio::steady_timer timer{co_await asio::this_coro::executor, 60ms};
      co_await timer.async_wait(asio::use_awaitable);
      EXPECT_TRUE(co_await rig.send("x"));
    }
    EXPECT_TRUE(co_await rig.is_ended());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 400ms);
  });
}

}  // namespace
}  // namespace cordon::egress
