// SPDX-License-Identifier: Apache-2.0
// Credentials: where they go, where they do not, and what comes back.
#include <gtest/gtest.h>

#include "egress/forward_head.h"
#include "egress/http_rig_test.h"

namespace cordon::egress {
namespace {

constexpr const char* kInjected = "Bearer sentinel-0123456789abcdef";

Judged<HttpPermission> granted(const http::RequestHead&) { return HttpPermission{.inject = true}; }

const std::string kOwn =
    "authorization: Bearer mine\r\nAuthorization: Bearer mine2\r\nAUTHORIZATION: Bearer mine3\r\n"
    "Cookie: a=b\r\nX-Api-Key: mine\r\nx_api_key: mine\r\nX.Api.Key: mine\r\n"
    "Proxy-Authorization: Basic bWluZQ==\r\nConnection: authorization, x-kept\r\n"
    "Accept-Encoding: gzip\r\nRange: bytes=0-9\r\nAccept: */*\r\n";

TEST(HttpCredentials, ReachTheHostOnceWhateverTheClientSent) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = granted;
    rig.gate.add = {{.name = "Authorization", .value = kInjected}};
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/", kOwn)))->head.status, 200);
    const auto& fields = rig.origin.seen.at(0).head.fields;
    EXPECT_EQ(http::only(fields, "authorization"), kInjected);
    for (const http::Field& field : fields) {
      EXPECT_EQ(field.value.find("mine"), std::string::npos) << field.name;
      EXPECT_NE(field.name, "Accept-Encoding");
      EXPECT_NE(field.name, "Range");
    }
    EXPECT_EQ(http::count(fields, "cookie"), 0U);
    EXPECT_EQ(http::count(fields, "accept"), 1U);
    EXPECT_TRUE(rig.gate.uses.at(0).injected);
    EXPECT_EQ(rig.gate.asked_for_fields, 1);
    rig.gate.add = {{.name = "X-Token", .value = kInjected}};
    const std::string own = "x-token: mine\r\nX_Token: mine\r\nx.token: mine\r\n";
    EXPECT_EQ((co_await rig.ask(get("/2", own)))->head.status, 200);
    EXPECT_EQ(rig.gate.asked_for_fields, 2);  // one request, one answer of the broker
    EXPECT_EQ(rig.origin.seen.at(1).head.fields.size(), 1U);
    EXPECT_EQ(http::only(rig.origin.seen.at(1).head.fields, "x-token"), kInjected);
  });
}

TEST(HttpCredentials, OfTheClientPassWhereNoGrantApplies) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    EXPECT_TRUE(co_await rig.connect());
    EXPECT_EQ((co_await rig.ask(get("/",
                                    "Authorization: Bearer mine\r\nCookie: a=b\r\n"
                                    "Accept-Encoding: gzip\r\n")))
                  ->head.status,
              200);
    const auto& fields = rig.origin.seen.at(0).head.fields;
    EXPECT_EQ(http::only(fields, "authorization"), "Bearer mine");
    EXPECT_EQ(http::only(fields, "cookie"), "a=b");
    EXPECT_EQ(http::only(fields, "accept-encoding"), "gzip");
    EXPECT_EQ(rig.gate.asked_for_fields, 0);
  });
}

TEST(HttpCredentials, NeverGoInTheClear) {
  in_rig({.tls = false}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = granted;
    rig.gate.add = {{.name = "Authorization", .value = kInjected}};
    EXPECT_TRUE(co_await rig.connect());
    const auto answer = co_await rig.ask(get("/"));
    EXPECT_EQ(answer->head.status, 403);
    EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "plaintext_header_set");
    EXPECT_EQ(rig.gate.asked_for_fields, 0);
    EXPECT_EQ(rig.origin.connections, 0);
    rig.gate.decide = [](const auto&) { return HttpPermission{}; };
    EXPECT_EQ((co_await rig.ask(get("/")))->head.status, 200);
  });
}

TEST(HttpCredentials, NeverGoToAHostThatHasNotProvenItsName) {
  using Host = RigSetup::Host;
  for (const Host host :
       {Host::good, Host::other_name, Host::expired, Host::unknown, Host::self_signed}) {
    in_rig({.host = host, .arm = static_cast<std::size_t>(host)},
           [](Rig& rig) -> asio::awaitable<void> {
             rig.gate.decide = granted;
             rig.gate.add = {{.name = "Authorization", .value = kInjected}};
             EXPECT_TRUE(co_await rig.connect());
             const auto answer = co_await rig.ask(get("/"));
             const bool is_good = rig.arm == 0;
             EXPECT_EQ(answer->head.status, is_good ? 200 : 502) << rig.arm;
             EXPECT_EQ(rig.gate.asked_for_fields, is_good ? 1 : 0);
             EXPECT_EQ(rig.origin.seen.size(), is_good ? 1U : 0U);
             EXPECT_EQ(rig.origin.connections, 1);
             if (is_good) co_return;
             EXPECT_EQ(http::only(answer->head.fields, "x-cordon-denied"), "upstream_certificate");
             EXPECT_EQ(answer->body.find("cordon: the certificate of api.example.com:443 was "
                                         "refused: "),
                       0U)
                 << answer->body;
           });
  }
}

TEST(HttpCredentials, AreNotHandedBackByTheAnswer) {
  for (const std::size_t arm : {0U, 1U}) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      if (rig.arm == 0) rig.gate.decide = granted;
      rig.gate.add = {{.name = "X-Token", .value = kInjected}};
      rig.origin.respond = [](const Seen&) {
        return "HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nset_cookie: s=2\r\nX-Token: reflected\r\n"
               "x.token: reflected\r\nAuthorization: reflected\r\nX-Cordon-Denied: faked\r\n"
               "X-Other: kept\r\nContent-Length: 0\r\n\r\n";
      };
      EXPECT_TRUE(co_await rig.connect());
      const auto answer = co_await rig.ask(get("/"));
      const auto& fields = answer->head.fields;
      EXPECT_EQ(fields.size(), rig.arm == 0 ? 1U : 6U);
      EXPECT_EQ(http::only(fields, "x-other"), "kept");
      EXPECT_EQ(http::count(fields, "x-cordon-denied"), 0U);
    });
  }
}

// Refuses a body that holds its word, and holds back what could be the beginning of it.
class WordScanner final : public HttpScanner {
 public:
  Judged<std::string> push(std::string_view piece) override {
    held_.append(piece);
    if (held_.find("sentinel") != std::string::npos) return std::unexpected{found()};
    const auto keep = std::min<std::size_t>(held_.size(), 7);
    std::string passed = held_.substr(0, held_.size() - keep);
    held_.erase(0, passed.size());
    return passed;
  }
  Judged<std::string> finish() override { return std::exchange(held_, {}); }

 private:
  static HttpRefusal found() {
    return {.status = 403, .code = "secret_violation", .text = "a secret was found"};
  }
  std::string held_;
};

void scan(Rig& rig) {
  rig.gate.decide = [](const auto&) -> Judged<HttpPermission> {
    return HttpPermission{.scan = true};
  };
  rig.gate.scan = [](Direction) { return std::make_unique<WordScanner>(); };
}

TEST(HttpScan, CutsASecretOutgoingAndIncoming) {
  for (const std::size_t arm : {0U, 1U}) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      if (rig.arm == 0) scan(rig);
      const int refused = rig.arm == 0 ? 403 : 200;
      rig.origin.respond = [](const Seen& seen) {
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(seen.body.size()) +
               "\r\n\r\n" + seen.body;
      };
      const std::string post = "POST / HTTP/1.1\r\nHost: api.example.com\r\n";
      EXPECT_TRUE(co_await rig.connect());
      const auto clean = co_await rig.ask(post + "Content-Length: 7\r\n\r\ninnocen");
      EXPECT_EQ(clean->body, "innocen");
      const auto split = co_await rig.ask(
          post + "Transfer-Encoding: chunked\r\n\r\n6\r\nx sent\r\n6\r\ninel y\r\n0\r\n\r\n");
      EXPECT_EQ(split->head.status, refused);
      EXPECT_EQ(rig.origin.seen.size(), rig.arm == 0 ? 1U : 2U);
      EXPECT_TRUE(co_await rig.connect());
      rig.origin.respond = [](const Seen&) {
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsent\r\n4\r\ninel\r\n"
               "0\r\n\r\n";
      };
      const auto reflected = co_await rig.ask(get("/"));
      EXPECT_EQ(reflected->head.status, refused);
      EXPECT_EQ(reflected->body.find("sentinel") == std::string::npos, rig.arm == 0);
    });
  }
}

TEST(HttpScan, ReadsHeadsAndRefusesWhatItCannotRead) {
  for (const std::size_t arm : {0U, 1U}) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      if (rig.arm == 0) scan(rig);
      rig.gate.secret_in_heads = "sentinel";
      EXPECT_TRUE(co_await rig.connect());
      const auto query = co_await rig.ask(get("/?q=sentinel"));
      EXPECT_EQ(query->head.status, rig.arm == 0 ? 403 : 200);
      EXPECT_EQ(rig.origin.seen.size(), rig.arm);
      rig.origin.respond = [](const Seen&) {
        return "HTTP/1.1 302 Found\r\nLocation: /sentinel\r\nContent-Length: 0\r\n\r\n";
      };
      EXPECT_EQ((co_await rig.ask(get("/")))->head.status, rig.arm == 0 ? 403 : 302);
      rig.origin.respond = [](const Seen&) {
        return "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nzz";
      };
      EXPECT_EQ((co_await rig.ask(get("/")))->head.status, rig.arm == 0 ? 502 : 200);
    });
  }
}

TEST(WithFields, RefusesWhatWouldFrameAMessageOrBreakALine) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
  const auto add = [&](std::string name, std::string value) {
    const http::Fields fields{{.name = std::move(name), .value = std::move(value)}};
    const auto whole = with_fields(head, fields);
    return whole ? std::string{whole->view()} : std::string{};
  };
  EXPECT_EQ(add("X-Key", "v"), "GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: v\r\n\r\n");
  for (const char* name : {"Content-Length", "transfer_encoding", "Host", "Connection", "Upgrade",
                           "Proxy-Authorization", "a b", "", "a:b", "a\r\nb", "Expect"})
    EXPECT_EQ(add(name, "v"), "") << name;
  for (const char* value : {"", " v", "v ", "a\r\nb", "a\nb", "a\x01", "\xC3\xA4"})
    EXPECT_EQ(add("X-Key", value), "") << value;
  EXPECT_FALSE(with_fields("no head", {}));
}

}  // namespace
}  // namespace cordon::egress
