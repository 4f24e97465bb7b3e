// SPDX-License-Identifier: Apache-2.0
#include "egress/http_session.h"

#include <gtest/gtest.h>

#include "egress/http_rig_test.h"

namespace cordon::egress {
namespace {

using namespace std::string_literals;

HttpRefusal no(const char* code = "path_not_allowed") {
  return {.status = 403, .code = code, .text = "GET /secret is not allowed"};
}

Judged<HttpPermission> all_but_secret(const http::RequestHead& head) {
  if (head.target.path == "/secret") return std::unexpected{no()};
  return HttpPermission{};
}

TEST(HttpSession, ServesRequestsOneAfterTheOtherOnOneConnection) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    for (const char* path : {"/a", "/b?q=1", "/c"}) {
      const auto answer = co_await rig.ask(get(path));
      EXPECT_TRUE(answer) << answer.error().text();
      if (!answer) co_return;
      EXPECT_EQ(answer->head.status, 200);
      EXPECT_EQ(answer->body, "ok");
    }
    EXPECT_EQ(rig.origin.connections, 1);
    EXPECT_EQ(rig.origin.seen.size(), 3U);
    EXPECT_EQ(rig.origin.seen[1].head.target.query, "q=1");
    EXPECT_EQ(rig.gate.uses.size(), 3U);
    EXPECT_EQ(rig.gate.uses[1].path, "/b");
    EXPECT_EQ(rig.gate.uses[1].status, 200);
    EXPECT_GT(rig.gate.uses[1].bytes_out, 20U);
    EXPECT_GT(rig.gate.uses[1].bytes_in, 20U);
  });
}

TEST(HttpSession, DecidesTheSecondRequestAsTheFirst) {
  for (const std::size_t arm : {0U, 1U}) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      const bool is_on = rig.arm == 0;
      if (is_on) rig.gate.decide = all_but_secret;
      EXPECT_TRUE(co_await rig.connect());
      EXPECT_EQ((co_await rig.ask(get("/open")))->head.status, 200);
      EXPECT_EQ((co_await rig.ask(get("/secret")))->head.status, is_on ? 403 : 200);
      EXPECT_EQ((co_await rig.ask(get("/open")))->head.status, 200);  // and it goes on
      EXPECT_EQ(rig.origin.seen.size(), is_on ? 2U : 3U);
    });
  }
}

TEST(HttpSession, DialsNothingForARefusedRequest) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = all_but_secret;
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/secret")))->head.status, 403);
    EXPECT_EQ(rig.gate.dials, 0);
    EXPECT_EQ(rig.origin.connections, 0);
  });
}

TEST(HttpSession, TellsARefusalToAProgramAndAPerson) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = [](const auto&) -> Judged<HttpPermission> {
      return std::unexpected{HttpRefusal{
          .status = 403, .code = "path_not_allowed", .text = "no\x1b[31m\xE2\x80\xAE way\nnext"}};
    };
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(get("/secret"));
    EXPECT_EQ(answer->body, "cordon: no?[31m??? way\nnext\n");
    const auto& fields = answer->head.fields;
    EXPECT_EQ(http::only(fields, "x-cordon-denied"), "path_not_allowed");
    EXPECT_EQ(http::only(fields, "content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(http::only(fields, "cache-control"), "no-store");
    EXPECT_EQ(http::count(fields, "connection"), 0U);
    const auto head = co_await rig.ask("HEAD /x HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "HEAD");
    EXPECT_EQ(head->head.status, 403);
    EXPECT_EQ((co_await rig.ask(get("/secret")))->head.status, 403);  // no body stands between
    EXPECT_EQ(rig.gate.uses.at(0).refusal->code, "path_not_allowed");
  });
}

TEST(HttpSession, RefusesAnotherHostOnAnyRequest) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    for (const char* host : {"evil.example.com", "api.example.com:8443",
                             "api.example.com.evil.test", "example.com", "127.0.0.1"}) {
      const auto answer =
          co_await rig.ask("GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n");
      EXPECT_EQ(answer->head.status, 421) << host;
      EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "misdirected");
    }
    EXPECT_EQ(rig.gate.judged.size(), 0U);
    EXPECT_EQ(rig.origin.connections, 0);
    for (const char* host : {"api.example.com", "API.example.com:443", "api.example.com."}) {
      const auto answer =
          co_await rig.ask("GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n");
      EXPECT_EQ(answer->head.status, 200) << host;
      EXPECT_EQ(rig.origin.seen.back().head.host.host, kName);
    }
    EXPECT_EQ((co_await rig.ask("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"))->head.status, 421);
    EXPECT_EQ((co_await rig.ask("GET http://api.example.com/ HTTP/1.1\r\n"
                                "Host: api.example.com\r\n\r\n"))
                  ->head.status,
              421);  // another scheme
    EXPECT_EQ((co_await rig.ask("GET https://api.example.com/p HTTP/1.1\r\n"
                                "Host: api.example.com\r\n\r\n"))
                  ->head.status,
              200);
    EXPECT_EQ(rig.origin.seen.back().head.target.kind, http::TargetKind::origin);
    EXPECT_EQ(rig.origin.seen.size(), 4U);
  });
}

TEST(HttpSession, SendsNothingOfAMessageThatCouldBeReadInTwoWays) {
  static const std::vector<std::string> kRequests{
      ("POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 5\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: +5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\nHost: api.example.com\n\n",
      "GET / HTTP/1.1\r\nHost: api.example.com\r\nHost: evil.test\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: api.example.com\r\nA: b\r\n c\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: api.example.com\r\nA: \0\r\n\r\n"s,
      "GET https://evil.test/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
      "GET /a/../b HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
      "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
      "TRACE / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01 not http\r\n\r\n"};
  for (std::size_t arm = 0; arm < kRequests.size(); ++arm) {
    in_rig({.tls = arm % 2 == 0, .arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      const std::string& request = kRequests[rig.arm];
      EXPECT_TRUE(co_await rig.connect());
      const auto answer = co_await rig.ask(request);
      EXPECT_TRUE(answer) << request;
      if (!answer) co_return;
      EXPECT_TRUE(answer->head.status == 400 || answer->head.status == 405 ||
                  answer->head.status == 505)
          << answer->head.status << request;
      EXPECT_EQ(http::count(answer->head.fields, "x-cordon-denied"), 1U);
      EXPECT_EQ(http::only(answer->head.fields, "connection"), "close");
      EXPECT_TRUE(co_await rig.is_ended());
      EXPECT_EQ(rig.origin.connections, 0) << request;
      EXPECT_EQ(rig.gate.judged.size(), 0U);
      EXPECT_EQ(rig.gate.uses.size(), 1U);
    });
  }
}

TEST(HttpSession, RefusesABrokenBodyBeforeTheHostCouldTakeItForWhole) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(
        "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5;ext=1\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api.example.com\r\n\r\n");
    EXPECT_TRUE(answer) << answer.error().text();
    if (!answer) co_return;
    EXPECT_EQ(answer->head.status, 400);
    EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "bad_request");
    EXPECT_TRUE(co_await rig.is_ended());
    EXPECT_EQ(rig.origin.seen.size(), 0U);
  });
}

TEST(HttpSession, ServesPipelinedRequestsInTheirOrder) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = all_but_secret;
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_TRUE(co_await rig.send(get("/a") + get("/secret") + get("/b")));
    EXPECT_EQ((co_await rig.answer())->head.status, 200);
    EXPECT_EQ((co_await rig.answer())->head.status, 403);
    EXPECT_EQ((co_await rig.answer())->head.status, 200);
    EXPECT_EQ(rig.origin.seen.size(), 2U);
  });
}

TEST(HttpSession, DrainsTheBodyOfARefusedRequestOrEnds) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = all_but_secret;
    EXPECT_TRUE(co_await rig.connect());
    const std::string head = "POST /secret HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: ";
    // The body looks like a request.
    const auto small =
        co_await rig.ask(head + std::to_string(get("/x").size()) + "\r\n\r\n" + get("/x"));
    EXPECT_EQ(small->head.status, 403);
    EXPECT_EQ((co_await rig.ask(get("/open")))->head.status, 200);
    EXPECT_EQ(rig.origin.seen.size(), 1U);
    const auto big = co_await rig.ask(head + "1000000\r\n\r\n" + std::string(1000000, 'x'));
    EXPECT_TRUE(big) << big.error().text();
    if (!big) co_return;
    EXPECT_EQ(big->head.status, 403);
    EXPECT_EQ(http::only(big->head.fields, "connection"), "close");
    EXPECT_TRUE(co_await rig.is_ended());
  });
}

TEST(HttpSession, LetsARefusedClientFinishItsSentence) {
  in_rig({.tls = false}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = all_but_secret;
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(
        "POST /secret HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 1000000\r\n\r\n");
    EXPECT_EQ(answer->head.status, 403);
    for (int i = 0; i < 3; ++i) {  // no reset that would cost it the answer
      asio::steady_timer timer{co_await asio::this_coro::executor, 20ms};
      co_await timer.async_wait(asio::use_awaitable);
      EXPECT_TRUE(co_await rig.send("more"));
    }
  });
}

TEST(HttpSession, ReadsTheBytesThatWereReadBeforeIt) {
  for (const bool tls : {true, false}) {
    in_rig({.tls = tls}, [](Rig& rig) -> asio::awaitable<void> {
      rig.before_size = 100;
      EXPECT_TRUE(co_await rig.connect());
      const auto long_one = get("/a", "X: " + std::string(200, 'y') + "\r\n");
      EXPECT_EQ((co_await rig.ask(long_one))->head.status, 200);
      EXPECT_EQ(rig.origin.seen.size(), 1U);
    });
  }
}

TEST(HttpSession, RefusesAClientThatAsksForAnotherName) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    for (const char* sni : {"other.example.com", "example.com", "a.api.example.com", ""})
      EXPECT_FALSE(co_await rig.connect(sni)) << sni;
    EXPECT_TRUE(co_await rig.connect("API.example.com"));
  });
}

TEST(HttpSession, EndsClientsThatAreSlow) {
  const RigSetup quick{.tls = false, .times = {.head = 50ms, .idle = 80ms, .linger = 20ms}};
  in_rig(quick, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_TRUE(co_await rig.send("GET / HT"));
    EXPECT_TRUE(co_await rig.is_ended());
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
    EXPECT_TRUE(co_await rig.is_ended());  // idle
  });
  const RigSetup shaking{.tls = true, .times = {.handshake = 50ms}};
  in_rig(shaking, [](Rig& rig) -> asio::awaitable<void> {
    co_await rig.connect_bare();
    EXPECT_TRUE(co_await rig.send("\x16"));
    EXPECT_TRUE(co_await rig.is_ended());
  });
}

}  // namespace
}  // namespace cordon::egress
