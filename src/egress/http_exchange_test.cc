// SPDX-License-Identifier: Apache-2.0
// Bodies of every framing, in both directions.
#include "egress/http_exchange.h"

#include <gtest/gtest.h>

#include "egress/http_rig_test.h"

namespace cordon::egress {
namespace {

const std::string kPost = "POST /up HTTP/1.1\r\nHost: api.example.com\r\n";

TEST(HttpExchange, CarriesBodiesBothWays) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.respond = [](const Seen& seen) {
      std::string out = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      http::append_chunk(out, seen.body);
      http::append_chunk(out, "!");
      return out.append("0\r\nX-Trailer: dropped\r\n\r\n");
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto chunked = co_await rig.ask(
        kPost + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
    EXPECT_EQ(chunked->body, "abcdefg!");
    EXPECT_TRUE(chunked->head.announced.chunked);
    EXPECT_TRUE(rig.origin.seen.at(0).head.announced.chunked);
    const auto sized = co_await rig.ask(kPost + "Content-Length: 5\r\n\r\nhello");
    EXPECT_EQ(sized->body, "hello!");
    EXPECT_EQ(rig.origin.seen.at(1).head.announced.length, 5U);
    const auto empty = co_await rig.ask(kPost + "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(empty->body, "!");
    EXPECT_EQ(rig.origin.connections, 1);
  });
}

TEST(HttpExchange, PassesAnswersWithoutABody) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.respond = [](const Seen& seen) -> std::string {
      if (seen.head.method == "HEAD") return "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
      if (seen.head.target.path == "/204") return "HTTP/1.1 204 No Content\r\n\r\n";
      if (seen.head.target.path == "/304")
        return "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: \"x\"\r\n\r\n";
      return "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n";
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto head = co_await rig.ask("HEAD / HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "HEAD");
    EXPECT_EQ(head->head.announced.length, 5000U);
    EXPECT_EQ((co_await rig.ask(get("/204")))->head.status, 204);
    EXPECT_EQ((co_await rig.ask(get("/304")))->head.status, 304);
    const auto moved = co_await rig.ask(get("/moved"));
    EXPECT_EQ(moved->head.status, 302);  // told, never followed
    EXPECT_EQ(http::only(moved->head.fields, "location"), "http://169.254.169.254/");
    EXPECT_EQ(rig.gate.dials, 1);
  });
}

TEST(HttpExchange, PassesABodyThatOnlyTheEndOfTheConnectionEnds) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.closes_after_one = true;
    rig.origin.respond = [](const Seen&) { return "HTTP/1.1 200 OK\r\n\r\nuntil the end"; };
    EXPECT_TRUE(co_await rig.connect());
    for (int i = 0; i < 2; ++i) {  // the client's connection goes on
      const auto answer = co_await rig.ask(get("/"));
      EXPECT_TRUE(answer) << answer.error().text();
      if (!answer) co_return;
      EXPECT_EQ(answer->body, "until the end");
      EXPECT_TRUE(answer->head.announced.chunked);
    }
    EXPECT_EQ(rig.origin.connections, 2);
    const auto old = co_await rig.ask("GET / HTTP/1.0\r\nHost: api.example.com\r\n\r\n");
    EXPECT_EQ(old->body, "until the end");
    EXPECT_EQ(old->head.version, http::Version::http10);
    EXPECT_FALSE(old->head.announced.chunked);
  });
}

TEST(HttpExchange, NeverMakesABrokenAnswerLookWhole) {
  static const std::vector<std::string> kCut{
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
  };
  for (std::size_t arm = 0; arm < kCut.size(); ++arm) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      rig.origin.closes_after_one = true;
      rig.origin.respond = [&rig](const Seen&) { return kCut[rig.arm]; };
      EXPECT_TRUE(co_await rig.connect());
      const auto answer = co_await rig.ask(get("/"));
      // Either all of it was held back and it is a 502, or it breaks off.
      EXPECT_TRUE(!answer || answer->head.status == 502) << rig.arm;
    });
  }
  // Under TLS an end that is not told is none.
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.script = [](http::Stream& stream, Inbox& inbox) -> asio::awaitable<void> {
      static_cast<void>(co_await TestOrigin::read_head(inbox));
      static_cast<void>(co_await stream.write(std::string_view{"HTTP/1.1 200 OK\r\n\r\nhalf"}));
      stream.close();
    };
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_FALSE(co_await rig.ask(get("/")));
  });
}

TEST(HttpExchange, RefusesAnswersThatCouldBeReadInTwoWays) {
  static const std::vector<std::string> kAnswers{
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
      "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
      "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
      "garbage\r\n\r\n",
  };
  for (std::size_t arm = 0; arm < kAnswers.size(); ++arm) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      rig.origin.respond = [&rig](const Seen&) { return kAnswers[rig.arm]; };
      EXPECT_TRUE(co_await rig.connect());
      const auto answer = co_await rig.ask(get("/"));
      EXPECT_EQ(answer->head.status, 502) << rig.arm;
      EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "upstream_failed");
    });
  }
}

TEST(HttpExchange, LetsTheClientWaitForTheHostsContinue) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.script = [](http::Stream& stream, Inbox& inbox) -> asio::awaitable<void> {
      const auto head = co_await TestOrigin::read_head(inbox);
      EXPECT_EQ(http::only(head->fields, "expect"), "100-continue");
      EXPECT_TRUE(inbox.empty());
      static_cast<void>(co_await stream.write(std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"}));
      const auto body = co_await TestOrigin::read_body(inbox, http::framing_of(*head));
      EXPECT_EQ(*body, "hello");
      static_cast<void>(co_await stream.write(
          std::string_view{"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}));
    };
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_TRUE(co_await rig.send(kPost + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    EXPECT_TRUE(co_await rig.inbox->fill());  // told before the body was sent
    EXPECT_EQ(rig.inbox->bytes(), "HTTP/1.1 100 Continue\r\n\r\n");
    rig.inbox->drop(rig.inbox->bytes().size());
    const auto answer = co_await rig.ask("hello");
    EXPECT_EQ(answer->head.status, 200);
    EXPECT_EQ(answer->interim, std::vector{103});
  });
}

TEST(HttpExchange, TellsAnAnswerThatComesBeforeTheBodyEnded) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.script = [](http::Stream& stream, Inbox& inbox) -> asio::awaitable<void> {
      static_cast<void>(co_await TestOrigin::read_head(inbox));
      static_cast<void>(co_await stream.write(
          std::string_view{"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!"}));
      co_await pause(50ms);
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(kPost + "Content-Length: 100000\r\n\r\nbegin");
    EXPECT_EQ(answer->head.status, 413);
    EXPECT_EQ(answer->body, "no!");
    EXPECT_EQ(http::only(answer->head.fields, "connection"), "close");
    EXPECT_TRUE(co_await rig.is_ended());
  });
}

TEST(HttpExchange, HoldsNoMoreOfABodyThanItsBuffers) {
  in_rig({.tls = false}, [](Rig& rig) -> asio::awaitable<void> {
    static std::uint64_t given = 0;
    static bool is_reading = false;
    given = 0;
    is_reading = false;
    constexpr std::uint64_t kSize = std::uint64_t{64} << 20U;
    rig.origin.script = [](http::Stream& stream, Inbox& inbox) -> asio::awaitable<void> {
      auto head = co_await TestOrigin::read_head(inbox);
      co_await pause(300ms);
      is_reading = true;
      // As much as was announced, counted and dropped.
      http::BodyReader reader{http::framing_of(*head)};
      std::uint64_t got = 0;
      while (!reader.done()) {
        if (inbox.empty() && !*co_await inbox.fill()) break;
        const auto piece = reader.next(inbox.bytes());
        got += piece->data.size();
        inbox.drop(piece->consumed);
      }
      const std::string body = std::to_string(got);
      static_cast<void>(co_await stream.write(
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
    };
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_TRUE(co_await rig.send(kPost + "Content-Length: " + std::to_string(kSize) + "\r\n\r\n"));
    const std::string piece(std::size_t{64} << 10U, 'x');
    std::uint64_t before_reading = 0;
    for (; given < kSize; given += piece.size()) {
      if (!is_reading) before_reading = given;
      EXPECT_TRUE(co_await rig.send(piece));
    }
    // What the kernel's four socket buffers hold is not ours.
    EXPECT_LT(before_reading, kSize / 2);
    EXPECT_EQ((co_await rig.answer())->body, std::to_string(kSize));
    EXPECT_EQ(rig.gate.uses.at(0).bytes_out >> 20U, 64U);
  });
}

TEST(HttpExchange, StreamsALargeAnswerWhole) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.respond = [](const Seen&) {
      std::string body(std::size_t{8} << 20U, 'x');
      for (std::size_t i = 0; i < body.size(); i += 4096) body[i] = static_cast<char>('a' + i % 7);
      return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
             body;
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(get("/"));
    EXPECT_TRUE(answer) << answer.error().text();
    const std::string sent = rig.origin.respond({});
    EXPECT_TRUE(sent.ends_with(answer->body));
    EXPECT_EQ(answer->body.size(), std::size_t{8} << 20U);
  });
}

TEST(HttpExchange, EndsWithTheBudget) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.most_out = 1000;
    EXPECT_TRUE(co_await rig.connect());
    const std::string body(5000, 'x');
    const auto answer = co_await rig.ask(kPost + "Content-Length: 5000\r\n\r\n" + body);
    EXPECT_EQ(answer->head.status, 503);
    EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "egress_budget_exceeded");
    EXPECT_EQ(rig.origin.seen.size(), 0U);
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 503);
    EXPECT_TRUE(co_await rig.connect());
    rig.gate.most_out = 10000;
    EXPECT_EQ((co_await rig.ask(kPost + "Content-Length: 5000\r\n\r\n" + body))->head.status, 200);
    rig.gate.most_in = 100;
    rig.origin.respond = [](const Seen&) {
      return "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + std::string(9000, 'y');
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto cut = co_await rig.ask(get("/"));
    EXPECT_TRUE(!cut || cut->head.status == 503);
  });
}

TEST(HttpExchange, SaysWhichStepTowardsTheHostFailed) {
  const RigSetup quick{.times = {.handshake = 100ms, .idle = 200ms}};
  in_rig(quick, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.undialled = HttpRefusal{
        .status = 502, .code = "upstream_failed", .text = "api.example.com does not resolve"};
    EXPECT_TRUE(co_await rig.connect());
    const auto undialled = co_await rig.ask(get("/"));
    EXPECT_EQ(undialled->head.status, 502);
    EXPECT_EQ(undialled->body, "cordon: api.example.com does not resolve\n");
    rig.gate.undialled.reset();
    rig.origin.respond = [](const Seen&) { return ""; };
    const auto closed = co_await rig.ask(get("/"));
    EXPECT_EQ(closed->head.status, 502);
    EXPECT_NE(closed->body.find("closed the connection"), std::string::npos) << closed->body;
    rig.origin.script = [](http::Stream&, Inbox&) { return pause(1000ms); };
    const auto silent = co_await rig.ask(get("/"));
    EXPECT_EQ(silent->head.status, 504);
  });
}

TEST(HttpExchange, DialsAgainWhenTheHostClosedAKeptConnection) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.closes_after_one = true;
    EXPECT_TRUE(co_await rig.connect());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
      if (i == 0) co_await pause(20ms);  // seen; else the host may close as the request comes
    }
    EXPECT_EQ(rig.origin.seen.size(), 3U);
    EXPECT_EQ(rig.origin.connections, 3);
  });
}

TEST(HttpExchange, UsesNoKeptConnectionThatWasClosedOrSpoke) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    rig.origin.closes_after_one = true;
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
    co_await pause(20ms);
    EXPECT_EQ((co_await rig.ask(kPost + "Content-Length: 2\r\n\r\nhi"))->head.status, 200);
    rig.origin.closes_after_one = false;
    // An answer that nobody asked for must not become that of the next request.
    rig.origin.respond = [](const Seen&) {
      return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
             "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    };
    co_await pause(20ms);
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await rig.ask(get("/")))->body, "ok");
    EXPECT_EQ(rig.origin.connections, 5);
  });
}

TEST(HttpExchange, NeverRepeatsWhatChangesSomething) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.origin.respond = [&rig](const Seen&) {
      return rig.origin.seen.size() == 1 ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "";
    };
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
    const auto again = co_await rig.ask("DELETE / HTTP/1.1\r\nHost: api.example.com\r\n\r\n");
    EXPECT_EQ(again->head.status, 502);
    EXPECT_EQ(rig.origin.seen.size(), 2U);  // once, though the connection was a kept one
  });
}

TEST(HttpExchange, KeepsOldClientsOnlyIfTheyAsk) {
  in_rig({.tls = false}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    const std::string old = "GET / HTTP/1.0\r\nHost: api.example.com\r\n";
    EXPECT_EQ((co_await rig.ask(old + "Connection: keep-alive\r\n\r\n"))->head.status, 200);
    const auto last = co_await rig.ask(old + "\r\n");
    EXPECT_EQ(last->head.status, 200);
    EXPECT_EQ(http::only(last->head.fields, "connection"), "close");
    EXPECT_TRUE(co_await rig.is_ended());
    EXPECT_EQ(rig.origin.seen.at(0).head.version, http::Version::http11);
  });
}

}  // namespace
}  // namespace cordon::egress
