// SPDX-License-Identifier: Apache-2.0
// What is written is read as it was meant, for heads of all shapes.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/characters.h"
#include "http/connection.h"
#include "http/framing.h"
#include "http/serialise.h"

namespace cordon::http {
namespace {

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

TEST(RoundTrip, IsUndoneByTheParserForRandomRequests) {
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

TEST(RoundTrip, IsUndoneByTheParserForRandomAnswers) {
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

TEST(RoundTrip, ChangesNothingTheSecondTime) {
  for (const Block& block : read_blocks("tests/http/refused_heads.txt")) {
    if (!block.name.starts_with("request ")) continue;
    const auto head = request_of(expanded(block.only('<')));
    const auto once = serialise(head, framing_of(head));
    ASSERT_TRUE(once) << block.name << ": " << once.error().text();
    const auto read = request_of(*once);
    const auto twice = serialise(read, framing_of(read));
    ASSERT_TRUE(twice) << block.name;
    EXPECT_EQ(*twice, *once) << block.name;
  }
}

}  // namespace
}  // namespace cordon::http
