// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <sys/resource.h>

#include "http/server_rig_test.h"

namespace cordon::http {
namespace {

// Waits until it is cancelled, and says so.
async::Task<void> wait_forever(Seen* seen) {
  struct Mark {
    Seen* seen;
    ~Mark() { ++seen->cancelled; }
  };
  const Mark mark{seen};
  asio::steady_timer never{co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max()};
  ++seen->waiting;
  co_await never.async_wait(asio::use_awaitable);
  co_return Status{};
}

async::Task<void> stream_much(Exchange& exchange, Seen* seen) {
  CO_TRY_DO(co_await exchange.begin(200, {}));
  const std::string piece(65536, 'x');
  for (int i = 0; i < 4096; ++i) {
    auto written = co_await exchange.write(piece);
    if (!written) {
      ++seen->broken_writes;
      co_return written;
    }
  }
  co_return co_await exchange.finish();
}

async::Task<void> count_pieces(Exchange& exchange) {
  std::string room(1000, '\0');
  std::uint64_t total = 0;
  for (;;) {
    CO_TRY(const std::size_t got, co_await exchange.read_some(room));
    if (got == 0) break;
    total += got;
  }
  co_return co_await exchange.answer(200, {}, std::to_string(total));
}

async::Task<void> pause_and_answer(Exchange& exchange, Seen* seen) {
  ++seen->waiting;
  asio::steady_timer timer{co_await asio::this_coro::executor, 300ms};
  co_await timer.async_wait(asio::use_awaitable);
  co_return co_await exchange.answer(200, {}, "late");
}

async::Task<void> handle(Exchange& exchange, Seen* seen) {
  const std::string& path = exchange.head().target.path;
  if (path == "/echo") {
    CO_TRY(std::string body, co_await exchange.read_body(100'000));
    co_return co_await exchange.answer(200, {}, std::move(body));
  }
  if (path == "/pieces") co_return co_await count_pieces(exchange);
  if (path == "/chunks") {
    CO_TRY_DO(co_await exchange.begin(200, {{.name = "X-Kind", .value = "chunks"}}));
    for (const char* const piece : {"one ", "", "two ", "three"})
      CO_TRY_DO(co_await exchange.write(piece));
    co_return co_await exchange.finish();
  }
  if (path == "/length") {
    CO_TRY_DO(co_await exchange.begin(200, {}, 6));
    CO_TRY_DO(co_await exchange.write("six "));
    CO_TRY_DO(co_await exchange.write("it"));
    co_return co_await exchange.finish();
  }
  if (path == "/broken") {
    CO_TRY_DO(co_await exchange.begin(200, {}));
    CO_TRY_DO(co_await exchange.write("half"));
    co_return Error{Errc::internal, "stopped"};
  }
  if (path == "/throw") throw std::runtime_error{"secret words"};
  if (path == "/error") co_return Error{Errc::internal, "secret words"};
  if (path == "/nothing") co_return Status{};
  if (path == "/bare") co_return co_await exchange.answer(204, {}, "");
  if (path == "/injected")
    co_return co_await exchange.answer(200, {{.name = "X", .value = "a\r\nY: b"}}, "");
  if (path == "/wait") co_return co_await wait_forever(seen);
  if (path == "/pause") co_return co_await pause_and_answer(exchange, seen);
  if (path == "/much") co_return co_await stream_much(exchange, seen);
  if (path == "/peer") {
    const auto& local = exchange.peer().local;
    co_return co_await exchange.answer(
        200, {}, local ? std::to_string(local->uid) : exchange.peer().address);
  }
  co_return co_await exchange.answer(200, {}, "hello");
}

class HttpServer : public ::testing::Test {
 protected:
  static ServerRig::Setup setup(Seen& seen) {
    ServerRig::Setup made;
    made.handler = [&seen](Exchange& exchange) { return handle(exchange, &seen); };
    return made;
  }
  Seen seen_;
};

TEST_F(HttpServer, KeepsAConnectionForMoreRequests) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  for (int i = 0; i < 5; ++i) {
    const Answer answer = client.ask(get("/"));
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(count(answer.head.fields, "date"), 1U);
    EXPECT_EQ(count(answer.head.fields, "connection"), 0U);
  }
  const ServerCounts counts = rig.counts();
  EXPECT_EQ(counts.accepted, 1U);
  EXPECT_EQ(counts.requests, 5U);
}

TEST_F(HttpServer, AnswersPipelinedRequestsInOrder) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const std::string body = "body " + std::to_string(i);
    all += i % 3 == 0 ? post("/echo", body)
                      : "POST /echo HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n" +
                            chunk_line(body.size()) + body + "\r\n0\r\n\r\n";
  }
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 300; ++i) {
    const Answer answer = client.read();
    ASSERT_EQ(answer.error, "") << i;
    ASSERT_EQ(answer.body, "body " + std::to_string(i));
  }
}

TEST_F(HttpServer, ReadsARequestThatComesByteByByte) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  for (const char c : post("/echo", "slowly")) ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_EQ(client.read().body, "slowly");
}

TEST_F(HttpServer, StreamsChunksToNewClientsAndTheEndToOldOnes) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  const Answer answer = client.ask(get("/chunks"));
  EXPECT_TRUE(answer.head.announced.chunked);
  EXPECT_EQ(answer.body, "one two three");
  EXPECT_EQ(only(answer.head.fields, "x-kind"), "chunks");
  EXPECT_EQ(client.ask(get("/length")).body, "six it");

  TestClient old = rig.connect();
  const Answer first = old.ask("GET / HTTP/1.0\r\nHost: node\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(first.body, "hello");
  EXPECT_EQ(first.head.version, Version::http10);
  const Answer second = old.ask("GET /chunks HTTP/1.0\r\nHost: node\r\n\r\n");
  EXPECT_FALSE(second.head.announced.chunked);
  EXPECT_EQ(second.body, "one two three");
  EXPECT_EQ(second.error, "");
}

TEST_F(HttpServer, SendsNoBodyToHeadNorWithoutContent) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  for (const std::string path : {"/", "/chunks", "/length"}) {
    const Answer answer = client.ask("HEAD " + path + " HTTP/1.1\r\nHost: node\r\n\r\n", "HEAD");
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.head.status, 200) << path;
    EXPECT_EQ(answer.head.announced.chunked, path == "/chunks");
  }
  EXPECT_EQ(client.ask(get("/bare")).head.status, 204);
  EXPECT_EQ(client.ask(get("/")).body, "hello");
}

TEST_F(HttpServer, InvitesABodyOnlyWhenItsHandlerReads) {
  ServerRig rig{setup(seen_)};
  const std::string head =
      "POST {} HTTP/1.1\r\nHost: node\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  const auto to = [&](const std::string& path) {
    std::string text = head;
    return text.replace(text.find("{}"), 2, path);
  };
  TestClient client = rig.connect();
  ASSERT_TRUE(client.send(to("/echo")));
  ASSERT_TRUE(client.fill());
  EXPECT_EQ(client.held(), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("body"));
  const Answer read = client.read();
  EXPECT_EQ(read.interim, std::vector<int>{100});
  EXPECT_EQ(read.body, "body");

  const Answer unread = client.ask(to("/"));
  EXPECT_EQ(unread.interim, std::vector<int>{});
  EXPECT_EQ(unread.body, "hello");
  EXPECT_EQ(only(unread.head.fields, "connection"), "close");
  EXPECT_TRUE(client.is_ended());

  TestClient other = rig.connect();
  EXPECT_EQ(other.ask(get("/", "Expect: wonders\r\n")).head.status, 400);
}

TEST_F(HttpServer, RefusesALargeBodyBeforeItComes) {
  ServerRig rig{setup(seen_)};
  TestClient told = rig.connect();
  const Answer answer = told.ask(
      "POST /echo HTTP/1.1\r\nHost: node\r\nContent-Length: 10000000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(answer.head.status, 413);
  EXPECT_EQ(answer.interim, std::vector<int>{});
  EXPECT_NE(answer.body.find("\"code\":\"body_too_large\""), std::string::npos) << answer.body;
  EXPECT_EQ(only(answer.head.fields, "content-type"), "application/problem+json");
  EXPECT_TRUE(told.is_ended());

  TestClient endless = rig.connect();
  ASSERT_TRUE(
      endless.send("POST /echo HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n"));
  std::string chunk;
  append_chunk(chunk, std::string(10'000, 'x'));
  for (int i = 0; i < 11; ++i) ASSERT_TRUE(endless.send(chunk));
  EXPECT_EQ(endless.read().head.status, 413);
  EXPECT_TRUE(endless.is_ended());
  EXPECT_EQ(rig.counts().refused_bodies, 2U);
}

TEST_F(HttpServer, TakesABodyInPiecesOfAnyFraming) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  EXPECT_EQ(client.ask(post("/pieces", std::string(1'000'000, 'x'))).body, "1000000");
  std::string chunked = "POST /pieces HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t size = 1; size < 3000; size += 7) append_chunk(chunked, std::string(size, 'x'));
  chunked += kLastChunk;
  EXPECT_EQ(client.ask(chunked).error, "");
  EXPECT_EQ(client.ask(get("/")).body, "hello");
}

TEST_F(HttpServer, DropsALittleThatNobodyReadAndEndsWhereItIsMuch) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  const Answer little = client.ask(post("/", std::string(60'000, 'x')));
  EXPECT_EQ(little.body, "hello");
  EXPECT_EQ(count(little.head.fields, "connection"), 0U);
  const Answer much = client.ask(post("/", std::string(100'000, 'x')));
  EXPECT_EQ(much.body, "hello");
  EXPECT_EQ(only(much.head.fields, "connection"), "close");
  EXPECT_TRUE(client.is_ended());

  TestClient endless = rig.connect();
  ASSERT_TRUE(endless.send("POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_EQ(endless.read().body, "hello");
  std::string chunk;
  append_chunk(chunk, std::string(10'000, 'x'));
  bool is_sent = true;
  for (int i = 0; i < 1000 && is_sent; ++i) is_sent = endless.send(chunk);
  EXPECT_TRUE(endless.is_ended());
}

TEST_F(HttpServer, TellsNothingOfAHandlerThatFails) {
  ServerRig rig{setup(seen_)};
  for (const std::string path : {"/throw", "/error", "/nothing", "/injected"}) {
    TestClient client = rig.connect();
    const Answer answer = client.ask(get(path));
    EXPECT_EQ(answer.head.status, 500) << path;
    EXPECT_EQ(answer.body,
              "{\"code\":\"internal\",\"detail\":\"the request could not be served\"}\n");
    EXPECT_EQ(client.ask(get("/")).body, "hello");
  }
  EXPECT_EQ(rig.counts().failed_handlers, 4U);
  TestClient client = rig.connect();
  EXPECT_EQ(client.ask(get("/broken")).error, "the body broke off");
}

TEST_F(HttpServer, RefusesWhatCouldBeReadInTwoWaysAndEnds) {
  ServerRig rig{setup(seen_)};
  const std::vector<std::pair<std::string, int>> cases{
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\n folded: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /../x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
      {"\x16\x03\x01\x02\x00\x01", 408},
  };
  ServerRig::Setup quick = setup(seen_);
  quick.times.head = 1s;
  ServerRig impatient{std::move(quick)};
  for (const auto& [request, status] : cases) {
    TestClient client = (status == 408 ? impatient : rig).connect();
    ASSERT_TRUE(client.send(request));
    const Answer answer = client.read();
    EXPECT_EQ(answer.head.status, status) << request.substr(0, 80);
    EXPECT_EQ(only(answer.head.fields, "connection"), "close");
    EXPECT_TRUE(client.is_ended());
  }
  EXPECT_EQ(rig.counts().refused_heads, cases.size() - 1);
  EXPECT_EQ(rig.counts().requests, 0U);
}

TEST_F(HttpServer, NeverServesWhatFollowsABadBody) {
  ServerRig rig{setup(seen_)};
  TestClient client = rig.connect();
  const Answer answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=\r\nhello\r\n0\r\n\r\n" +
      get("/wait"));
  EXPECT_EQ(answer.head.status, 400);
  EXPECT_TRUE(client.is_ended());
  EXPECT_EQ(seen_.waiting, 0);
}

TEST_F(HttpServer, EndsAHeadThatTrickles) {
  ServerRig::Setup quick = setup(seen_);
  quick.times.head = 1s;
  ServerRig rig{std::move(quick)};
  TestClient client = rig.connect();
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: a\r\n"));
  std::atomic<bool> is_over = false;
  std::thread trickle{[&] {
    while (!is_over && client.send("X-More: 1\r\n")) std::this_thread::sleep_for(10ms);
  }};
  EXPECT_EQ(client.read().head.status, 408);
  is_over = true;
  trickle.join();
  EXPECT_TRUE(client.is_ended());
  EXPECT_EQ(rig.counts().late_heads, 1U);
}

TEST_F(HttpServer, EndsABodyThatTrickles) {
  ServerRig::Setup quick = setup(seen_);
  quick.times.body = 400ms;
  ServerRig rig{std::move(quick)};
  TestClient client = rig.connect();
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n"));
  std::atomic<bool> is_over = false;
  std::thread trickle{[&] {
    while (!is_over && client.send("x")) std::this_thread::sleep_for(10ms);
  }};
  EXPECT_EQ(client.read().head.status, 408);
  is_over = true;
  trickle.join();
}

TEST_F(HttpServer, EndsAnIdleConnectionWithoutAWord) {
  ServerRig::Setup quick = setup(seen_);
  quick.times.head = 150ms;
  ServerRig first{std::move(quick)};
  EXPECT_EQ(first.connect().read().error, "the end");
  ServerRig::Setup later = setup(seen_);
  later.times.idle = 150ms;
  ServerRig rig{std::move(later)};
  TestClient idle = rig.connect();
  EXPECT_EQ(idle.ask(get("/")).body, "hello");
  EXPECT_EQ(idle.read().error, "the end");
}

TEST_F(HttpServer, EndsAReaderThatStopsReading) {
  ServerRig::Setup quick = setup(seen_);
  quick.times.write = 300ms;
  quick.limits.rate = 1 << 20U;
  ServerRig rig{std::move(quick)};
  TestClient client = rig.connect();
  ASSERT_TRUE(client.send(get("/much")));
  EXPECT_TRUE(rig.comes([&] { return seen_.broken_writes == 1; }));
}

TEST_F(HttpServer, CancelsTheHandlerOfAClientThatIsGone) {
  for (const bool tcp : {false, true}) {
    ServerRig::Setup quick = setup(seen_);
    quick.times.gone = 50ms;
    quick.tcp = tcp;
    ServerRig rig{std::move(quick)};
    seen_.waiting = seen_.cancelled = 0;
    TestClient stays = rig.connect();
    ASSERT_TRUE(stays.send(get("/wait")));
    {
      TestClient leaves = rig.connect();
      ASSERT_TRUE(leaves.send(get("/wait") + get("/")));
      ASSERT_TRUE(rig.comes([&] { return seen_.waiting == 2; }));
    }
    EXPECT_TRUE(rig.comes([&] { return seen_.cancelled == 1; }));
    EXPECT_TRUE(rig.comes([&] { return rig.counts().connections == 1; }));
    EXPECT_EQ(rig.counts().gone, 1U);
    EXPECT_EQ(seen_.cancelled, 1);
  }
}

TEST_F(HttpServer, KnowsWhoIsAtTheOtherEnd) {
  ServerRig rig{setup(seen_)};
  EXPECT_EQ(rig.connect().ask(get("/peer")).body, std::to_string(::getuid()));
  ServerRig::Setup over_tcp = setup(seen_);
  over_tcp.tcp = true;
  ServerRig other{std::move(over_tcp)};
  EXPECT_EQ(other.connect().ask(get("/peer")).body, "127.0.0.1");
}

TEST_F(HttpServer, HasTheLongestIdleMakeRoomAndTurnsAwayWhereAllAreBusy) {
  ServerRig::Setup small = setup(seen_);
  small.limits.connections = 3;
  ServerRig rig{std::move(small)};
  TestClient first = rig.connect();
  EXPECT_EQ(first.ask(get("/")).body, "hello");
  TestClient second = rig.connect();
  EXPECT_EQ(second.ask(get("/")).body, "hello");
  TestClient third = rig.connect();
  EXPECT_EQ(third.ask(get("/")).body, "hello");
  TestClient fourth = rig.connect();
  EXPECT_EQ(fourth.ask(get("/")).body, "hello");
  EXPECT_TRUE(first.is_ended());
  ASSERT_TRUE(rig.comes([&] { return rig.counts().connections == 3; }));
  for (TestClient* const client : {&second, &third, &fourth})
    ASSERT_TRUE(client->send(get("/wait")));
  ASSERT_TRUE(rig.comes([&] { return seen_.waiting == 3; }));
  TestClient fifth = rig.connect();
  EXPECT_EQ(fifth.read().head.status, 503);
  EXPECT_EQ(rig.counts().turned_away, 1U);
}

TEST_F(HttpServer, HasWhoIsLongestInAskingMakeRoomWhereNobodyIsIdle) {
  ServerRig::Setup small = setup(seen_);
  small.limits.connections = 3;
  ServerRig rig{std::move(small)};
  TestClient busy = rig.connect();
  ASSERT_TRUE(busy.send(get("/wait")));
  ASSERT_TRUE(rig.comes([&] { return seen_.waiting == 1; }));
  std::vector<TestClient> slow;
  for (int i = 0; i < 2; ++i) {
    slow.push_back(rig.connect());
    ASSERT_TRUE(slow.back().send("GET / HT"));
    ::usleep(50'000);  // until it is heard
  }
  TestClient another = rig.connect();
  EXPECT_EQ(another.ask(get("/")).body, "hello");
  EXPECT_TRUE(slow.front().is_ended());
  ASSERT_TRUE(slow.back().send("TP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(slow.back().read().body, "hello") << "one was enough";
  EXPECT_EQ(rig.counts().turned_away, 0U);
}

TEST_F(HttpServer, BoundsTheConnectionsOfOneAddress) {
  ServerRig::Setup small = setup(seen_);
  small.limits.per_address = 2;
  small.tcp = true;
  ServerRig rig{std::move(small)};
  TestClient first = rig.connect();
  EXPECT_EQ(first.ask(get("/")).body, "hello");
  {
    TestClient second = rig.connect();
    EXPECT_EQ(second.ask(get("/")).body, "hello");
    TestClient third = rig.connect();
    EXPECT_EQ(third.ask(get("/")).error.empty(), false);
  }
  EXPECT_TRUE(rig.comes([&] { return rig.counts().connections == 1; }));
  EXPECT_EQ(rig.connect().ask(get("/")).body, "hello");
  EXPECT_EQ(rig.counts().over_address, 1U);
}

}  // namespace
}  // namespace cordon::http
