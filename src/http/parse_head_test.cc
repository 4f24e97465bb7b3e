// SPDX-License-Identifier: Apache-2.0
#include "http/parse_head.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/connection.h"
#include "http/target.h"

namespace cordon::http {
namespace {

constexpr std::string_view kPlain =
    "GET /a%20b/?c=d%0a&e HTTP/1.1\r\n"
    "Host: API.Example.com.:8443\r\n"
    "user-agent:curl/8\r\n"
    "X-Empty:\r\n"
    "X-Spaced: \t a  b \t\r\n"
    "Content-Length: 12\r\n"
    "\r\n";

TEST(RequestReader, ReadsAHeadIntoItsValues) {
  const RequestHead head = request_of(kPlain);
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.version, Version::http11);
  EXPECT_EQ(head.target, (Target{.path = "/a%20b/", .query = "c=d%0a&e"}));
  EXPECT_EQ(head.host, (Authority{.host = "api.example.com", .port = 8443}));
  EXPECT_EQ(head.announced, (Announced{.length = 12}));
  const Fields fields{{"user-agent", "curl/8"}, {"X-Empty", ""}, {"X-Spaced", "a  b"}};
  EXPECT_EQ(head.fields, fields);
}

TEST(RequestReader, TakesNoByteOfTheBody) {
  const std::string stream = std::string{kPlain} + "GET / HTTP/1.1\r\n";
  const auto outcome = read_request({stream});
  EXPECT_TRUE(outcome.done);
  EXPECT_EQ(outcome.consumed, kPlain.size());
}

TEST(RequestReader, AsksForMoreUntilTheLastByte) {
  for (std::size_t size = 0; size < kPlain.size(); ++size) {
    const auto outcome = read_request({kPlain.substr(0, size)});
    EXPECT_EQ(outcome.refusal, "") << size;
    EXPECT_FALSE(outcome.done) << size;
    EXPECT_EQ(outcome.consumed, size);
  }
}

TEST(RequestReader, ReadsEachKindOfTarget) {
  const auto target = [](std::string_view line, bool connect = false) {
    return request_of(std::string{line} + " HTTP/1.1\r\nHost: a.test\r\n\r\n",
                      {.limits = {}, .connect = connect})
        .target;
  };
  EXPECT_EQ(target("GET /"), Target{});
  EXPECT_EQ(target("GET /?"), (Target{.query = ""}));
  EXPECT_EQ(target("GET /a??b"), (Target{.path = "/a", .query = "?b"}));
  EXPECT_EQ(target("GET //a//"), (Target{.path = "//a//"}));
  EXPECT_EQ(target("OPTIONS *"), (Target{.kind = TargetKind::asterisk, .path = ""}));
  EXPECT_EQ(target("GET http://A.test"),
            (Target{.kind = TargetKind::absolute, .authority = {.host = "a.test"}}));
  EXPECT_EQ(target("GET HTTPS://a.test:443?b"), (Target{.kind = TargetKind::absolute,
                                                        .scheme = Scheme::https,
                                                        .authority = {"a.test", 443},
                                                        .query = "b"}));
  EXPECT_EQ(target("CONNECT a.test:443", true),
            (Target{.kind = TargetKind::authority, .authority = {"a.test", 443}, .path = ""}));
}

TEST(RequestReader, KeepsThePathAsItWasSent) {
  for (const std::string_view path : {"/@scope%2fname", "/a;b=c", "//a", "/a/%2e%2e%2e", "/[id].js",
                                      "/%7Euser/%C3%A9", "/a%2F..b"}) {
    const auto head = request_of("GET " + std::string{path} + " HTTP/1.1\r\nHost: a.test\r\n\r\n");
    EXPECT_EQ(head.target.path, path);
  }
}

TEST(RequestReader, HoldsConnectToItsOwnRules) {
  const auto refusal = [](std::string_view text) {
    return read_request({text}, {.limits = {}, .connect = true}).refusal;
  };
  EXPECT_EQ(refusal("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"), "");
  EXPECT_EQ(refusal("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"), "");
  EXPECT_EQ(refusal("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n"),
            "head byte 8: CONNECT names a host and a port");
  EXPECT_EQ(refusal("CONNECT / HTTP/1.1\r\nHost: a.test\r\n\r\n"),
            "head byte 8: a host has letters, digits, hyphens and dots only");
  EXPECT_EQ(refusal("CONNECT http://a.test:443/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
            "head byte 8: the port is no number from 1 to 65535");
  EXPECT_EQ(refusal("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n"),
            "head byte 35: Host and the target name different servers");
  EXPECT_EQ(refusal("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:80\r\n\r\n"),
            "head byte 35: Host and the target name different servers");
  EXPECT_EQ(refusal("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n"),
            "head byte 43: CONNECT has no body");
  EXPECT_EQ(refusal("connect a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"),
            "head byte 0: CONNECT is not served here");
}

TEST(RequestReader, HoldsAHeadToTheLimitsItIsGiven) {
  const std::string text = "GET /abc HTTP/1.1\r\nHost: a.test\r\nA: b\r\n\r\n";
  const auto refusal = [&](const HeadLimits& limits) {
    return read_request({text}, {.limits = limits}).refusal;
  };
  EXPECT_EQ(refusal({.bytes = text.size(), .fields = 1, .target = 4}), "");
  EXPECT_EQ(refusal({.bytes = text.size() - 1, .fields = 1, .target = 4}),
            "head byte 40: longer than 40 bytes");
  EXPECT_EQ(refusal({.bytes = text.size(), .fields = 0, .target = 4}),
            "head byte 33: more than 0 fields");
  EXPECT_EQ(refusal({.bytes = text.size(), .fields = 1, .target = 3}),
            "head byte 7: a target of more than 3 bytes");
}

TEST(ResponseReader, ReadsAHeadIntoItsValues) {
  const ResponseHead head = answer_of(
      "HTTP/1.0 404 Nobody is here\r\nContent-Length: 0\r\nX-Name: \xC3\xA9\r\nHost: x\r\n\r\n");
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.version, Version::http10);
  EXPECT_EQ(head.announced, (Announced{.length = 0}));
  const Fields fields{{"X-Name", "\xC3\xA9"}, {"Host", "x"}};
  EXPECT_EQ(head.fields, fields);
}

TEST(ResponseReader, ForgivesAMissingReason) {
  EXPECT_EQ(answer_of("HTTP/1.1 200\r\n\r\n"), ResponseHead{});
  EXPECT_EQ(answer_of("HTTP/1.1 200 \r\n\r\n"), ResponseHead{});
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\n\r\n"), ResponseHead{});
}

TEST(ResponseReader, ReadsInterimHeadsOneByOne) {
  const std::string_view stream = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
  const auto first = read_answer({stream});
  EXPECT_EQ(first.head.status, 100);
  EXPECT_EQ(read_answer({stream.substr(first.consumed)}).head.status, 200);
}

TEST(Fields, AreFoundInAnyCaseAndOnlyWhenAlone) {
  const Fields fields{{"Accept", "a"}, {"X-Key", "1"}, {"x-key", "2"}, {"X_KEY", "3"}};
  EXPECT_EQ(count(fields, "x-KEY"), 2U);
  EXPECT_EQ(only(fields, "accept"), "a");
  EXPECT_EQ(only(fields, "x-key"), std::nullopt);
  EXPECT_EQ(only(fields, "absent"), std::nullopt);
}

TEST(Fields, AreRemovedInAllSpellings) {
  Fields fields{{"X-Api-Key", "1"}, {"x_api_key", "2"}, {"X.API-KEY", "3"}, {"X-Api-Keys", "4"}};
  remove_all_spellings(fields, "x-api-key");
  EXPECT_EQ(fields, (Fields{{"X-Api-Keys", "4"}}));
}

TEST(Authority, HasOneSpelling) {
  const auto spelt = [](std::string_view text) {
    const auto authority = parse_authority(text);
    return authority ? authority->host + " " + to_string(*authority) : authority.error().text();
  };
  EXPECT_EQ(spelt("A.Test.:80"), "a.test a.test:80");
  EXPECT_EQ(spelt("127.0.0.1:1"), "127.0.0.1 127.0.0.1:1");
  EXPECT_EQ(spelt("[2001:DB8:0:0::1]:443"), "2001:db8::1 [2001:db8::1]:443");
  EXPECT_EQ(spelt("[::FFFF:7f00:1]"), "::ffff:127.0.0.1 [::ffff:127.0.0.1]");
  EXPECT_EQ(spelt("xn--9CA.test"), "xn--9ca.test xn--9ca.test");
}

TEST(OriginForm, TakesHostAndSchemeOutOfTheTarget) {
  const auto head = request_of("GET http://a.test:80/b?c HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(in_origin_form(head).target, (Target{.path = "/b", .query = "c"}));
  EXPECT_EQ(in_origin_form(head).host, head.host);
}

TEST(Connection, IsKeptByTheRulesOfEachVersion) {
  EXPECT_TRUE(keeps_alive(Version::http11, {}));
  EXPECT_FALSE(keeps_alive(Version::http10, {}));
  EXPECT_FALSE(keeps_alive(Version::http11, {{"Connection", "x, Close"}}));
  EXPECT_TRUE(keeps_alive(Version::http10, {{"connection", "Keep-Alive"}}));
  EXPECT_FALSE(
      keeps_alive(Version::http10, {{"Connection", "keep-alive"}, {"Connection", "close"}}));
  EXPECT_TRUE(keeps_alive(Version::http11, {{"Connection", "closed"}}));
}

TEST(Connection, TakesWithItWhatItNamesButNotWhatGivesTheMessageItsSense) {
  Fields fields{{"Connection", "x-hop, authorization,,Cookie"},
                {"connection", "content-type , expect"},
                {"X-Hop", "1"},
                {"x-hop", "2"},
                {"X-Stays", "3"},
                {"Authorization", "4"},
                {"Cookie", "5"},
                {"Content-Type", "6"},
                {"Keep-Alive", "timeout=5"},
                {"Proxy-Authorization", "7"},
                {"Proxy-Anything", "8"},
                {"Proxy", "9"},
                {"TE", "trailers"},
                {"Trailer", "X"},
                {"Upgrade", "h2c"},
                {"HTTP2-Settings", "A"},
                {"Proxying", "10"}};
  strip_hop_by_hop(fields);
  EXPECT_EQ(fields, (Fields{{"X-Stays", "3"},
                            {"Authorization", "4"},
                            {"Cookie", "5"},
                            {"Content-Type", "6"},
                            {"Proxying", "10"}}));
}

}  // namespace
}  // namespace cordon::http
