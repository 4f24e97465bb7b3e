// SPDX-License-Identifier: Apache-2.0
#include "http/serialise.h"

#include <optional>
#include <random>
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

// Heads as the parser gives them, at random.
class RandomHeads {
 public:
  explicit RandomHeads(unsigned seed) : random_{seed} {}

  RequestHead request() {
    RequestHead head{.method = one_of({"GET", "POST", "patch", "OPTIONS", "M-SEARCH", "!x"}),
                     .target = target(),
                     .version = chance(4) ? Version::http10 : Version::http11,
                     .host = authority(),
                     .fields = fields(false)};
    if (head.target.kind == TargetKind::absolute) {
      head.host = head.target.authority;
      if (chance(2)) head.host.port = head.host.port.value_or(usual(head.target));
    }
    if (head.target.kind == TargetKind::asterisk) head.method = "OPTIONS";
    announce(head.announced, head.version);
    return head;
  }

  ResponseHead answer() {
    ResponseHead head{.status = number(100, 599),
                      .version = chance(4) ? Version::http10 : Version::http11,
                      .fields = fields(true)};
    if (head.status >= 200 && head.status != 204 && head.status != 304)
      announce(head.announced, head.version);
    if (head.status == 101) head.status = 102;
    return head;
  }

 private:
  int number(int least, int most) { return std::uniform_int_distribution{least, most}(random_); }
  bool chance(int of) { return number(1, of) == 1; }
  std::string one_of(const std::vector<std::string>& texts) {
    return texts[static_cast<std::size_t>(number(0, static_cast<int>(texts.size()) - 1))];
  }
  std::string text(std::string_view alphabet, int least, int most) {
    std::string out;
    for (int i = number(least, most); i > 0; --i)
      out += alphabet[static_cast<std::size_t>(number(0, static_cast<int>(alphabet.size()) - 1))];
    return out;
  }
  static std::uint16_t usual(const Target& target) {
    return target.scheme == Scheme::http ? 80 : 443;
  }

  Authority authority() {
    Authority authority{.host =
                            one_of({"a", "a.test", "xn--9ca.test", "1.2.3.4", "::1", "2001:db8::a",
                                    text("abc0", 1, 9) + ".x" + text("a-0", 0, 5) + "z"})};
    if (chance(2)) authority.port = static_cast<std::uint16_t>(number(1, 65535));
    return authority;
  }

  Target target() {
    Target target{.path = "/" + text("ab/;:@%!$&'()*+,=-_~[]|^", 0, 30)};
    std::string path;
    for (const char c : target.path)
      path += c == '%' ? one_of({"%20", "%2F", "%c3", "%25"}) : std::string{c};
    target.path = path;
    if (chance(2)) target.query = text("ab%&=?/\\\"{}<>`'", 0, 20);
    if (chance(4)) {
      target.kind = TargetKind::absolute;
      target.scheme = chance(2) ? Scheme::https : Scheme::http;
      target.authority = authority();
    } else if (chance(10)) {
      target = {.kind = TargetKind::asterisk, .path = ""};
    }
    return target;
  }

  Fields fields(bool any) {
    Fields fields;
    for (int i = number(0, 12); i > 0; --i) {
      std::string value = text(any ? "ab \t,;=\"\xC3\xA9\x80" : "ab \t,;=\"~!", 0, 12);
      value = trimmed(value);
      fields.push_back({.name = "x" + text("abAB09-_.!#$%&'*+^`|~", 0, 8), .value = value});
    }
    return fields;
  }

  void announce(Announced& announced, Version version) {
    if (chance(3)) {
      announced.length =
          std::uniform_int_distribution<std::uint64_t>{0, (1ULL << 63U) - 1}(random_);
    } else if (chance(2) && version == Version::http11) {
      announced.chunked = true;
    }
  }

  std::mt19937 random_;
};

TEST(Serialise, IsUndoneByTheParserForRandomRequests) {
  RandomHeads heads{7};
  for (int i = 0; i < 3000; ++i) {
    const RequestHead head = heads.request();
    const auto text = serialise(head, framing_of(head));
    ASSERT_TRUE(text) << text.error().text() << '\n' << to_string(head.target);
    RequestHead again = request_of(*text);
    strip_hop_by_hop(again.fields);  // what HTTP/1.0 says of the connection
    EXPECT_EQ(again, head) << *text;
  }
}

TEST(Serialise, IsUndoneByTheParserForRandomAnswers) {
  RandomHeads heads{11};
  for (int i = 0; i < 3000; ++i) {
    const ResponseHead head = heads.answer();
    const auto framing = framing_of(head, {"GET"});
    ASSERT_TRUE(framing) << framing.error().text();
    const auto text = serialise(head, *framing);
    ASSERT_TRUE(text) << text.error().text();
    ResponseHead again = answer_of(*text);
    strip_hop_by_hop(again.fields);  // what HTTP/1.0 says of the connection
    EXPECT_EQ(again, head) << *text;
  }
}

TEST(Serialise, ChangesNothingTheSecondTime) {
  for (const Block& block : read_blocks("tests/http/refused_heads.txt")) {
    if (!block.name.starts_with("request ")) continue;
    const auto head = request_of(expanded(block.only('<')));
    const auto once = serialise(head, framing_of(head));
    ASSERT_TRUE(once) << block.name << ": " << once.error().text();
    const auto read = request_of(*once);
    EXPECT_EQ(text_of(serialise(read, framing_of(read))), *once) << block.name;
  }
}

}  // namespace
}  // namespace cordon::http
