// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include "http/server_rig_test.h"

namespace cordon::http {
namespace {

async::Task<void> serve(Exchange& exchange) {
  const std::string& path = exchange.head().target.path;
  if (path == "/echo") {
    CO_TRY(std::string body, co_await exchange.read_body(10'000'000));
    co_return co_await exchange.answer(200, {}, std::move(body));
  }
  if (path == "/stream") {
    CO_TRY_DO(co_await exchange.begin(200, {}));
    const std::string piece(100'000, 'x');
    for (int i = 0; i < 20; ++i) {
      CO_TRY_DO(co_await exchange.write(piece));
    }
    co_return co_await exchange.finish();
  }
  if (path == "/broken") {
    CO_TRY_DO(co_await exchange.begin(200, {}));
    CO_TRY_DO(co_await exchange.write("half"));
    co_return Error{Errc::internal, "stopped"};
  }
  if (path == "/socket") {
    CO_TRY(const auto socket, co_await WebSocket::accept(exchange, "", {}));
    for (;;) {
      CO_TRY(const auto message, co_await socket->receive());
      if (!message) co_return Status{};
      CO_TRY_DO(co_await socket->send(message->kind, message->data));
    }
  }
  co_return co_await exchange.answer(404, {}, "nothing there");
}

using Talk = async::Task<void> (*)(Client&);

asio::awaitable<bool> with_watch(async::Scope& scope, Client*& client, Talk& body) {
  scope.spawn(client->watch());
  auto done = co_await body(*client);
  EXPECT_TRUE(done) << done.error().text();
  client->stop();
  co_return done.has_value();
}

void with_client(Talk body) {
  ServerRig::Setup setup;
  setup.handler = serve;
  ServerRig rig{std::move(setup)};
  asio::io_context loop;
  Client client{loop.get_executor(), rig.connect_fd(), {.host = "node", .port = {}}};
  async::block_on(loop, async::in_scope(with_watch, &client, body));
}

TEST(HttpClient, AsksAgainOnTheSameConnection) {
  with_client([](Client& client) -> async::Task<void> {
    for (const std::size_t size : {0U, 5U, 1'000'000U}) {
      const std::string body(size, 'b');
      CO_TRY_DO(co_await client.send("POST", "/echo?x=1", {}, body));
      CO_TRY(const ResponseHead head, co_await client.head());
      EXPECT_EQ(head.status, 200);
      CO_TRY(const std::string back, co_await client.read_body(2'000'000));
      EXPECT_EQ(back, body);
    }
    CO_TRY_DO(co_await client.send("HEAD", "/echo", {}, ""));
    CO_TRY(const ResponseHead head, co_await client.head());
    EXPECT_EQ(head.status, 200);
    CO_TRY(const std::string none, co_await client.read_body(0));
    EXPECT_EQ(none, "");
    co_return Status{};
  });
}

TEST(HttpClient, SendsAndReadsInPieces) {
  with_client([](Client& client) -> async::Task<void> {
    CO_TRY_DO(co_await client.begin("POST", "/echo", {}, {}));
    for (const std::string piece : {"one ", "two ", "", "three"}) {
      CO_TRY_DO(co_await client.write(piece));
    }
    CO_TRY_DO(co_await client.finish());
    CO_TRY(const ResponseHead head, co_await client.head());
    CO_TRY(const std::string back, co_await client.read_body(100));
    EXPECT_EQ(back, "one two three");

    CO_TRY_DO(co_await client.send("GET", "/stream", {}, ""));
    CO_TRY(const ResponseHead streamed, co_await client.head());
    std::size_t total = 0;
    std::vector<char> room(777);
    for (;;) {
      CO_TRY(const std::size_t got, co_await client.read_some(room));
      if (got == 0) break;
      total += got;
    }
    EXPECT_EQ(total, 2'000'000U);
    co_return Status{};
  });
}

TEST(HttpClient, RefusesWhatIsTooLongOrBreaksOff) {
  with_client([](Client& client) -> async::Task<void> {
    CO_TRY_DO(co_await client.send("GET", "/broken", {}, ""));
    CO_TRY(const ResponseHead head, co_await client.head());
    const auto body = co_await client.read_body(100);
    EXPECT_FALSE(body);
    co_return Status{};
  });
  with_client([](Client& client) -> async::Task<void> {
    CO_TRY_DO(co_await client.send("GET", "/stream", {}, ""));
    CO_TRY(const ResponseHead head, co_await client.head());
    const auto body = co_await client.read_body(100);
    EXPECT_FALSE(body);
    EXPECT_EQ(body.error().code(), Errc::exhausted);
    co_return Status{};
  });
  with_client([](Client& client) -> async::Task<void> {
    const auto sent = co_await client.send("GET", "/a\r\nX: y", {}, "");
    EXPECT_FALSE(sent);
    co_return Status{};
  });
}

TEST(HttpClient, BecomesAWebSocketOrHearsWhyNot) {
  with_client([](Client& client) -> async::Task<void> {
    const auto refused = co_await client.upgrade("/elsewhere", {}, {});
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::denied);
    CO_TRY(const ResponseHead head, co_await client.head());
    EXPECT_EQ(head.status, 404);
    CO_TRY(const std::string why, co_await client.read_body(100));
    EXPECT_EQ(why, "nothing there");

    CO_TRY(const auto socket, co_await client.upgrade("/socket", {}, {}));
    const std::string large(200'000, 'y');
    for (const std::string& said : {std::string{"hello"}, large}) {
      CO_TRY_DO(co_await socket->send(Opcode::text, said));
      CO_TRY(const auto back, co_await socket->receive());
      EXPECT_TRUE(back && back->data == said && back->kind == Opcode::text);
    }
    CO_TRY_DO(co_await socket->close(CloseCode::normal, "done"));
    EXPECT_EQ(socket->closed_by(), 1000);
    co_return Status{};
  });
}

}  // namespace
}  // namespace cordon::http
