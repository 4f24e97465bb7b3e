// SPDX-License-Identifier: Apache-2.0
#include "http/websocket.h"

#include "http/server_rig_test.h"

namespace cordon::http {
namespace {

struct Ends {
  std::atomic<int> farewells = 0;
  std::atomic<int> timeouts = 0;
  std::atomic<int> others = 0;
};

// Says back what it hears; "close" and "farewell" are orders.
async::Task<void> echo(Exchange& exchange, Ends* ends, WebSocketRules rules) {
  CO_TRY(const auto socket, co_await WebSocket::accept(exchange, "", rules));
  for (;;) {
    auto message = co_await socket->receive();
    if (!message) ++(message.error().code() == Errc::timeout ? ends->timeouts : ends->others);
    if (!message) co_return std::move(message).error();
    const auto& heard = *message;
    if (!heard) {
      ++ends->farewells;
      co_return Status{};
    }
    const Message& said = *heard;
    if (said.data == "close") co_return co_await socket->close(CloseCode::going_away, "as asked");
    if (said.data == "farewell") {
      CO_TRY_DO(co_await socket->farewell(CloseCode::normal, "and gone"));
      continue;
    }
    if (socket->has_said_close()) continue;
    CO_TRY_DO(co_await socket->send(said.kind, said.data));
  }
}

class WebSocketTest : public ::testing::Test {
 protected:
  ServerRig::Setup setup(WebSocketRules rules = {}) {
    ServerRig::Setup made;
    made.handler = [this, rules](Exchange& exchange) { return echo(exchange, &ends_, rules); };
    return made;
  }
  static std::string handshake() {
    return get("/",
               "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  }
  static std::string frame(Opcode kind, std::string_view data) {
    std::string out;
    append_frame(out, kind, data, MaskKey{1, 2, 3, 4});
    return out;
  }
  // `continuation`: the connection has ended.
  static Message hear(TestClient& client, MessageReader& reader) {
    for (;;) {
      if (client.held().empty() && !client.fill()) return {.kind = Opcode::continuation};
      auto step = reader.next(client.held());
      EXPECT_TRUE(step);
      if (!step) return {.kind = Opcode::continuation};
      client.held().erase(0, step->consumed);
      if (auto& message = step->message) return *std::move(message);
    }
  }
  Ends ends_;
};

TEST_F(WebSocketTest, AcceptsSaysBackAndParts) {
  ServerRig rig{setup()};
  TestClient client = rig.connect();
  MessageReader reader{Role::client, 1 << 20U};
  // The first frame may come with the handshake.
  const Answer answer = client.ask(handshake() + frame(Opcode::text, "early"));
  EXPECT_EQ(answer.head.status, 101);
  EXPECT_EQ(only(answer.head.fields, "sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(hear(client, reader).data, "early");
  const std::string large(300'000, 'x');
  ASSERT_TRUE(client.send(frame(Opcode::binary, large)));
  const auto back = hear(client, reader);
  EXPECT_EQ(back.data, large);
  EXPECT_EQ(back.kind, Opcode::binary);
  ASSERT_TRUE(client.send(frame(Opcode::ping, "are you there")));
  EXPECT_EQ(hear(client, reader), (Message{.kind = Opcode::pong, .data = "are you there"}));
  ASSERT_TRUE(client.send(frame(Opcode::close, close_payload(CloseCode::normal, "bye"))));
  EXPECT_EQ(hear(client, reader), (Message{.kind = Opcode::close, .data = "", .code = 1000}));
  EXPECT_TRUE(client.is_ended());
  EXPECT_TRUE(rig.comes([&] { return ends_.farewells == 1; }));
}

TEST_F(WebSocketTest, WaitsForTheFarewellOfTheOtherSide) {
  ServerRig rig{setup()};
  TestClient client = rig.connect();
  MessageReader reader{Role::client, 1000};
  ASSERT_EQ(client.ask(handshake()).head.status, 101);
  ASSERT_TRUE(client.send(frame(Opcode::text, "close")));
  EXPECT_EQ(hear(client, reader),
            (Message{.kind = Opcode::close, .data = "as asked", .code = 1001}));
  ASSERT_TRUE(client.send(frame(Opcode::text, "still on its way")));
  ASSERT_TRUE(client.send(frame(Opcode::close, "\x03\xE9")));
  EXPECT_TRUE(client.is_ended());

  WebSocketRules quick;
  quick.close = 100ms;
  ServerRig impatient{setup(quick)};
  TestClient silent = impatient.connect();
  ASSERT_EQ(silent.ask(handshake()).head.status, 101);
  ASSERT_TRUE(silent.send(frame(Opcode::text, "close")));
  EXPECT_TRUE(silent.is_ended());
}

TEST_F(WebSocketTest, SaysFarewellWhileItIsReceivedFrom) {
  WebSocketRules quick;
  quick.close = 100ms;
  ServerRig rig{setup(quick)};
  for (const bool answers : {true, false}) {
    TestClient client = rig.connect();
    MessageReader reader{Role::client, 1000};
    ASSERT_EQ(client.ask(handshake()).head.status, 101);
    ASSERT_TRUE(client.send(frame(Opcode::text, "farewell")));
    EXPECT_EQ(hear(client, reader),
              (Message{.kind = Opcode::close, .data = "and gone", .code = 1000}));
    if (answers) ASSERT_TRUE(client.send(frame(Opcode::text, "late")));
    if (answers) ASSERT_TRUE(client.send(frame(Opcode::close, "\x03\xE8")));
    EXPECT_TRUE(client.is_ended());
    if (answers) EXPECT_TRUE(rig.comes([&] { return ends_.farewells == 1; }));
  }
  EXPECT_EQ(ends_.farewells, 1);
}

TEST_F(WebSocketTest, IsHeardByWhoStillSends) {
  ServerRig rig{setup()};
  TestClient client = rig.connect();
  MessageReader reader{Role::client, 1000};
  ASSERT_EQ(client.ask(handshake()).head.status, 101);
  // Refused by its announced length: all of it comes nevertheless, to a socket that is not reset.
  const std::string much = frame(Opcode::binary, std::string((1U << 20U) + 1, 'x'));
  for (std::size_t at = 0; at < much.size(); at += 100'000)
    ASSERT_TRUE(client.send(much.substr(at, 100'000)));
  EXPECT_EQ(hear(client, reader).code, 1009);
}

TEST_F(WebSocketTest, TellsWhatWasWrongAndEnds) {
  WebSocketRules small;
  small.message = 1000;
  ServerRig rig{setup(small)};
  const std::vector<std::pair<std::string, int>> cases{
      {"\x81\x05Hello", 1002},
      {frame(Opcode::text, "\xFF"), 1007},
      {frame(Opcode::text, std::string(1001, 'x')), 1009},
  };
  for (const auto& [bytes, code] : cases) {
    TestClient client = rig.connect();
    MessageReader reader{Role::client, 1000};
    ASSERT_EQ(client.ask(handshake()).head.status, 101);
    ASSERT_TRUE(client.send(bytes));
    const auto told = hear(client, reader);
    EXPECT_EQ(told.code, code);
    EXPECT_TRUE(client.is_ended());
  }
}

TEST_F(WebSocketTest, PingsASilentPeerAndEndsOneThatIsDead) {
  WebSocketRules quick;
  quick.ping = 50ms;
  {
    ServerRig rig{setup(quick)};
    TestClient client = rig.connect();
    MessageReader reader{Role::client, 1000};
    ASSERT_EQ(client.ask(handshake()).head.status, 101);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(hear(client, reader), (Message{.kind = Opcode::ping}));
      ASSERT_TRUE(client.send(frame(Opcode::pong, "")));
    }
    EXPECT_EQ(ends_.timeouts, 0);
  }
  quick.pong = 50ms;
  ServerRig rig{setup(quick)};
  TestClient dead = rig.connect();
  ASSERT_EQ(dead.ask(handshake()).head.status, 101);
  EXPECT_TRUE(dead.is_ended());
  EXPECT_TRUE(rig.comes([&] { return ends_.timeouts == 1; }));
}

TEST_F(WebSocketTest, RefusesWhatIsNoHandshake) {
  ServerRig rig{setup()};
  TestClient client = rig.connect();
  EXPECT_EQ(client.ask(get("/")).head.status, 500);  // its handler returned the refusal
  std::string bad = handshake();
  bad.replace(bad.find("13"), 2, "12");
  EXPECT_EQ(client.ask(bad).head.status, 500);
}

}  // namespace
}  // namespace cordon::http
