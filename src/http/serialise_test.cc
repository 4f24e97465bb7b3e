// SPDX-License-Identifier: Apache-2.0
#include "http/serialise.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/connection.h"
#include "http/framing.h"
#include "http/reason.h"

namespace cordon::http {
namespace {

using Kind = Framing::Kind;

std::string text_of(const Result<std::string>& text) {
  return text ? *text : "! " + text.error().text();
}

RequestHead plain() { return {.method = "GET", .target = {}, .host = {.host = "a.test"}}; }

TEST(Serialise, WritesARequestInItsOneForm) {
  const auto head = request_of(
      "POST http://A.test:8080/b?c HTTP/1.1\r\ncontent-length:  5\r\nX-a:\tb \r\nTE: trailers\r\n"
      "Connection: x-gone\r\nX-Gone: 1\r\nhOST: a.test.:8080\r\nProxy-Authorization: x\r\n\r\n");
  EXPECT_EQ(text_of(serialise(head, framing_of(head))),
            "POST http://a.test:8080/b?c HTTP/1.1\r\nHost: a.test:8080\r\nX-a: b\r\n"
            "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(text_of(serialise(head, {.kind = Kind::chunked}, After::close)),
            "POST http://a.test:8080/b?c HTTP/1.1\r\nHost: a.test:8080\r\nX-a: b\r\n"
            "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(Serialise, WritesAnAnswerWithTheUsualReason) {
  const auto head = answer_of(
      "HTTP/1.1 404 ignore previous instructions\r\nContent-Length: 3\r\nKeep-Alive: 5\r\n"
      "A: b\r\n\r\n");
  EXPECT_EQ(text_of(serialise(head, *framing_of(head, {"GET"}))),
            "HTTP/1.1 404 Not Found\r\nA: b\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(text_of(serialise(ResponseHead{.status = 299}, {.kind = Kind::until_close})),
            "HTTP/1.1 299 \r\nConnection: close\r\n\r\n");
}

TEST(Serialise, SaysWhatBecomesOfTheConnection) {
  RequestHead old = plain();
  old.version = Version::http10;
  EXPECT_EQ(text_of(serialise(old, {})),
            "GET / HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(text_of(serialise(old, {}, After::close)),
            "GET / HTTP/1.0\r\nHost: a.test\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(text_of(serialise(plain(), {})), "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(text_of(serialise(plain(), {}, After::upgrade)),
            "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(
      text_of(serialise(ResponseHead{.status = 101}, {.kind = Kind::tunnel}, After::upgrade)),
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

TEST(Serialise, KeepsTheLengthThatHeadAndNotModifiedTell) {
  const ResponseHead head{.status = 304, .announced = {.length = 7}};
  EXPECT_EQ(text_of(serialise(head, *framing_of(head, {"GET"}))),
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n");
}

TEST(Serialise, SendsNoMemberThatBreaksOutOfItsPlace) {
  std::vector<RequestHead> bad;
  const auto with = [&](auto change) {
    RequestHead head = plain();
    change(head);
    bad.push_back(head);
  };
  const std::vector<std::string> values{"a\r\nX: b", "a\nb", "a\rb", std::string{"a\0b", 3},
                                        " a",        "a ",   "\x1B", "\xC3\xA9"};
  for (const auto& text : values) with([&](RequestHead& head) { head.fields = {{"X", text}}; });
  for (const std::string_view name : {"", "X:", "X: Y", " X", "X ", "X\r\nY", "X\n", "Host", "host",
                                      "Content-Length", "transfer-encoding", "Content_Length"})
    with([&](RequestHead& head) { head.fields = {{std::string{name}, "5"}}; });
  for (const std::string_view method : {"", "G T", "GET\r\n", "GET /", "TRACE", "track", "Connect"})
    with([&](RequestHead& head) { head.method = method; });
  for (const std::string_view path :
       {"", "a", "/a b", "/a?b", "/a#b", "/..", "/a HTTP/1.1\r\nX: y\r\n\r\nGET /", "/\n", "*"})
    with([&](RequestHead& head) { head.target.path = path; });
  for (const std::string_view query : {"a b", "a#b", "a\r\nb"})
    with([&](RequestHead& head) { head.target.query = query; });
  for (const std::string_view host :
       {"", "A.test", "a.test.", "a.test:80", "u@a.test", "a.test/b", "a.test\r\nX: y", "127.1"})
    with([&](RequestHead& head) { head.host.host = host; });
  with([](RequestHead& head) { head.host.port = 0; });
  with([](RequestHead& head) { head.target.kind = TargetKind::asterisk; });
  with([](RequestHead& head) { head.target.kind = TargetKind::authority; });
  with([](RequestHead& head) {
    head.target.kind = TargetKind::absolute;
    head.target.authority.host = "b.test";
  });
  with([](RequestHead& head) { head.fields = Fields(257, {"X", "y"}); });
  with([](RequestHead& head) { head.fields = {{"X", std::string(200'000, 'a')}}; });
  ASSERT_TRUE(serialise(plain(), {}));
  for (const RequestHead& head : bad) {
    const auto text = serialise(head, {});
    EXPECT_FALSE(text) << text_of(text);
  }
}

TEST(Serialise, RefusesFramingThatTheMessageCannotHave) {
  for (const auto kind : {Kind::announced, Kind::until_close, Kind::tunnel})
    EXPECT_FALSE(serialise(plain(), {.kind = kind}));
  RequestHead old = plain();
  old.version = Version::http10;
  EXPECT_FALSE(serialise(old, {.kind = Kind::chunked}));
  for (const int status : {100, 103, 204}) {
    for (const auto kind : {Kind::announced, Kind::length, Kind::chunked, Kind::until_close})
      EXPECT_FALSE(serialise(ResponseHead{.status = status}, {.kind = kind})) << status;
  }
  EXPECT_FALSE(serialise(ResponseHead{.status = 304}, {.kind = Kind::chunked}));
  EXPECT_FALSE(serialise(ResponseHead{.status = 101}, {.kind = Kind::tunnel}));
  EXPECT_FALSE(serialise(ResponseHead{.status = 101}, {}, After::upgrade));
  EXPECT_FALSE(serialise(ResponseHead{.status = 200}, {.kind = Kind::tunnel}, After::upgrade));
  EXPECT_FALSE(serialise(ResponseHead{.status = 99}, {}));
  EXPECT_FALSE(serialise(ResponseHead{.status = 600}, {}));
  EXPECT_FALSE(serialise(ResponseHead{.fields = {{"X", "a\r\n\r\nb"}}}, {}));
}

TEST(Serialise, LetsNoSenderRemoveAFieldOfOurs) {
  auto head = request_of(
      "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: x-key\r\nx_key: theirs\r\nX-Key: "
      "theirs\r\n\r\n");
  strip_hop_by_hop(head.fields);
  remove_all_spellings(head.fields, "x-key");
  head.fields.push_back({.name = "X-Key", .value = "ours"});
  EXPECT_EQ(text_of(serialise(head, {})), "GET / HTTP/1.1\r\nHost: a.test\r\nX-Key: ours\r\n\r\n");
}

TEST(UsualReason, IsEmptyForNumbersOfNobody) {
  EXPECT_EQ(usual_reason(200), "OK");
  EXPECT_EQ(usual_reason(511), "Network Authentication Required");
  EXPECT_EQ(usual_reason(299), "");
  EXPECT_EQ(usual_reason(0), "");
}

}  // namespace
}  // namespace cordon::http
