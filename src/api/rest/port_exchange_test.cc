// SPDX-License-Identifier: Apache-2.0
#include "api/rest/port_exchange.h"

#include <deque>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "http/serialise.h"
#include "http/server_rig_test.h"

namespace cordon::api {
namespace {

TEST(InnerHead, HasNothingThatIsOurs) {
  const http::RequestHead outer{.method = "POST",
                                .target = {.path = "/v1/sandboxes/a/ports/1/x", .query = "q"},
                                .version = http::Version::http10,
                                .host = {.host = "node.example", .port = {}},
                                .announced = {.length = 3, .chunked = false},
                                .fields = {{"AUTHORIZATION", "Bearer cdn1_x"},
                                           {"Authorization_", "kept: another name"},
                                           {"proxy_authorization", "x"},
                                           {"Proxy-Authorization", "x"},
                                           {"X-API-Key", "cdnk_x"},
                                           {"x_api_key", "cdnk_x"},
                                           {"E2B-Sandbox-Id", "i"},
                                           {"Cordon-Tenant", "acme"},
                                           {"Cordon_Tenant", "acme"},
                                           {"Connection", "keep-alive, X-Hop, Authorization"},
                                           {"X-Hop", "x"},
                                           {"Expect", "100-continue"},
                                           {"TE", "trailers"},
                                           {"Upgrade", "h2c"},
                                           {"Cookie", "a=b"},
                                           {"X-Own", "y"}}};
  const http::RequestHead inner = inner_head(outer, "/x", 3000, Credentials::ours);
  EXPECT_EQ(inner.target.path, "/x");
  EXPECT_EQ(inner.target.query, "q");
  EXPECT_EQ(inner.host, (http::Authority{"localhost", 3000}));
  EXPECT_EQ(
      inner.fields,
      (http::Fields{{"Authorization_", "kept: another name"}, {"Cookie", "a=b"}, {"X-Own", "y"}}));
  const auto written = http::serialise(inner, http::framing_of(inner), http::After::close);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->find("cdn1_"), std::string::npos);
  EXPECT_EQ(written->find("cdnk_"), std::string::npos);
  EXPECT_TRUE(written->starts_with("POST /x?q HTTP/1.1\r\nHost: localhost:3000\r\n")) << *written;
}

TEST(InnerHead, KeepsCredentialsThatAreForTheServerInside) {
  const http::RequestHead outer{.method = "GET",
                                .target = {.path = "/y"},
                                .host = {.host = "3000-i.example", .port = {}},
                                .fields = {{"Authorization", "Bearer inner"},
                                           {"E2B-Traffic-Access-Token", "t"},
                                           {"e2b-sandbox-port", "3000"},
                                           {"X-Access-Token", "t"},
                                           {"X-API-Key", "inner"}}};
  EXPECT_EQ(inner_head(outer, "/y", 3000, Credentials::of_the_inner).fields,
            (http::Fields{{"Authorization", "Bearer inner"}, {"X-API-Key", "inner"}}));
}

TEST(OuterFields, SayNothingInOurName) {
  EXPECT_EQ(outer_fields({{"Date", "yesterday"},
                          {"cordon_request", "forged"},
                          {"Cordon-Request", "forged"},
                          {"Cordon-Moved", "1.1"},
                          {"CORDON_Gauge", "forged"},
                          {"Cordon-Whatever-Comes", "forged"},
                          {"Cordonbleu", "kept: another name"},
                          {"Connection", "close, X-Hop"},
                          {"X-Hop", "x"},
                          {"Set-Cookie", "a"},
                          {"Set-Cookie", "b"}},
                         "r1"),
            (http::Fields{{"Cordonbleu", "kept: another name"},
                          {"Set-Cookie", "a"},
                          {"Set-Cookie", "b"},
                          {"Cordon-Request", "r1"}}));
}

// What the server inside says, and then silence.
struct Script {
  explicit Script(const asio::any_io_executor& executor)
      : woken{executor, asio::steady_timer::time_point::max()} {}
  asio::steady_timer woken;  // never fires: cancelled when the tunnel is given up
  std::deque<std::string> said;
  std::string heard;
  bool is_closed = false;
};

class ScriptedTunnel final : public sandbox::Tunnel {
 public:
  explicit ScriptedTunnel(std::shared_ptr<Script> script) : script_{std::move(script)} {}
  ~ScriptedTunnel() override {
    script_->is_closed = true;
    script_->woken.cancel();
  }
  async::Task<std::string> read_some() override { return read(script_); }
  async::Task<void> write(std::string bytes) override {
    script_->heard += bytes;
    co_return Status{};
  }
  void shutdown_write() override {}

 private:
  static async::Task<std::string> read(std::shared_ptr<Script> script) {
    while (script->said.empty()) {
      if (script->is_closed) co_return Error{Errc::unavailable, "closed"};
      co_await script->woken.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    std::string piece = std::move(script->said.front());
    script->said.pop_front();
    co_return piece;
  }
  std::shared_ptr<Script> script_;
};

// Passes every request to a server that says `said`; a failure before the answer is answered with
// its code.
http::ServerRig::Setup passing(const std::deque<std::string>& said, PortTimes times) {
  http::ServerRig::Setup setup;
  setup.handler = [said, times](http::Exchange& exchange) -> async::Task<void> {
    return [](http::Exchange& asked, std::deque<std::string> says,
              PortTimes limits) -> async::Task<void> {
      const auto executor = co_await asio::this_coro::executor;
      const auto script = std::make_shared<Script>(executor);
      script->said = std::move(says);
      PortExchange passes{executor, asked, std::make_unique<ScriptedTunnel>(script), "r1", limits};
      auto done = co_await passes.run(inner_head(asked.head(), "/", 80, Credentials::ours));
      if (done || asked.is_answered()) co_return done;
      co_return co_await asked.answer(done.error().code() == Errc::timeout ? 504 : 502, {}, {});
    }(exchange, said, times);
  };
  return setup;
}

TEST(PortExchange, EndsWithAServerThatIsTooSlow) {
  constexpr PortTimes kQuick{.head = std::chrono::milliseconds{50},
                             .idle = std::chrono::milliseconds{50}};
  {
    http::ServerRig rig{passing({}, kQuick)};
    EXPECT_EQ(rig.connect().ask(http::get("/")).head.status, 504);
  }
  {
    // A head that comes bit by bit gets no more time.
    http::ServerRig rig{passing({"HTTP/1.1 ", "200 OK\r\n"}, kQuick)};
    EXPECT_EQ(rig.connect().ask(http::get("/")).head.status, 504);
  }
  {
    http::ServerRig rig{passing({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}, kQuick)};
    // What is not whole does not look so.
    EXPECT_NE(rig.connect().ask(http::get("/")).error, "");
  }
  {
    http::ServerRig rig{passing({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"}, {})};
    const http::Answer answer = rig.connect().ask(http::get("/"));
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(answer.body, "ab");
  }
}

TEST(PortExchange, PassesOnAtOnceWhatCameAtOnce) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  {
    http::ServerRig rig{passing({head + "2\r\nab\r\n1\r\nc\r\n3\r\ndef\r\n0\r\n\r\n"}, {})};
    http::TestClient client = rig.connect();
    ASSERT_TRUE(client.send(http::get("/", "Connection: close\r\n")));
    while (client.fill()) {
    }
    EXPECT_TRUE(client.held().ends_with("\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n")) << client.held();
  }
  {
    http::ServerRig rig{
        passing({head + "5\r\nab", "cde\r", "\n1\r\nf\r\n2\r\ngh\r\n0\r\n", "\r\n"}, {})};
    const http::Answer answer = rig.connect().ask(http::get("/"));
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.body, "abcdefgh");
  }
  {
    // What stands before a fault is told, and does not look whole.
    http::ServerRig rig{passing({head + "2\r\nab\r\n1\r\nc\r\nno chunk"}, {})};
    const http::Answer answer = rig.connect().ask(http::get("/"));
    EXPECT_NE(answer.error, "");
    EXPECT_EQ(answer.body, "abc");
  }
}

}  // namespace
}  // namespace cordon::api
