// SPDX-License-Identifier: Apache-2.0
// Where bodies end, and what is in them.
#include "http/body.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http/cases_test.h"
#include "http/chunked.h"
#include "http/framing.h"

namespace cordon::http {
namespace {

using Kind = Framing::Kind;

struct ReadBody {
  std::string data;
  std::size_t consumed = 0;
  bool done = false;
  std::string refusal;

  friend bool operator==(const ReadBody&, const ReadBody&) = default;
};

ReadBody read(const Framing& framing, const std::vector<std::string_view>& pieces) {
  BodyReader reader{framing};
  ReadBody body;
  for (std::string_view piece : pieces) {
    while (!piece.empty() && !reader.done()) {
      const auto next = reader.next(piece);
      if (!next) {
        body.refusal = next.error().text();
        body.consumed = 0;
        return body;
      }
      EXPECT_GT(next->consumed, 0U);
      body.data += next->data;
      body.consumed += next->consumed;
      piece.remove_prefix(next->consumed);
    }
  }
  body.done = reader.done();
  return body;
}

ReadBody read_chunked(std::string_view text) { return read({.kind = Kind::chunked}, {text}); }

TEST(Framing, OfARequestIsWhatItAnnounces) {
  const auto framing = [](std::string_view field) {
    return framing_of(
        request_of("POST / HTTP/1.1\r\nHost: a.test\r\n" + std::string{field} + "\r\n"));
  };
  EXPECT_EQ(framing(""), (Framing{.kind = Kind::none}));
  EXPECT_EQ(framing("Content-Length: 0\r\n"), (Framing{.kind = Kind::length}));
  EXPECT_EQ(framing("Content-Length: 9223372036854775807\r\n"),
            (Framing{.kind = Kind::length, .length = 9223372036854775807}));
  EXPECT_EQ(framing("Transfer-Encoding: chunked\r\n"), (Framing{.kind = Kind::chunked}));
}

struct AnswerCase {
  int status;
  Announced announced;
  Asked asked;
  Framing framing;
};

TEST(Framing, OfAnAnswerDependsOnTheQuestion) {
  const Announced nothing{}, five{.length = 5}, zero{.length = 0}, chunked{.chunked = true};
  const std::vector<AnswerCase> cases{
      {200, nothing, {"GET"}, {Kind::until_close}},  {200, five, {"GET"}, {Kind::length, 5}},
      {200, zero, {"GET"}, {Kind::length, 0}},       {200, chunked, {"GET"}, {Kind::chunked}},
      {500, nothing, {"POST"}, {Kind::until_close}}, {205, zero, {"POST"}, {Kind::length, 0}},
      {200, nothing, {"HEAD"}, {Kind::none}},        {200, five, {"HEAD"}, {Kind::announced, 5}},
      {404, chunked, {"HEAD"}, {Kind::none}},        {304, nothing, {"GET"}, {Kind::none}},
      {304, five, {"GET"}, {Kind::announced, 5}},    {304, chunked, {"GET"}, {Kind::none}},
      {204, nothing, {"GET"}, {Kind::none}},         {204, zero, {"GET"}, {Kind::none}},
      {100, nothing, {"POST"}, {Kind::none}},        {103, zero, {"GET"}, {Kind::none}},
      {101, nothing, {"GET", true}, {Kind::tunnel}}, {200, nothing, {"CONNECT"}, {Kind::tunnel}},
      {299, zero, {"CONNECT"}, {Kind::tunnel}},      {403, five, {"CONNECT"}, {Kind::length, 5}},
      {200, five, {"GET", true}, {Kind::length, 5}},
  };
  for (const auto& one : cases) {
    const auto framing = framing_of({.status = one.status, .announced = one.announced}, one.asked);
    ASSERT_TRUE(framing) << framing.error().text();
    EXPECT_EQ(*framing, one.framing) << one.status << ' ' << one.asked.method;
  }
}

TEST(Framing, RefusesABodyWhereNoneCanBe) {
  const auto refusal = [](int status, const Announced& announced, const Asked& asked) {
    const auto framing = framing_of({.status = status, .announced = announced}, asked);
    return framing ? "" : framing.error().text();
  };
  const Announced five{.length = 5}, chunked{.chunked = true};
  EXPECT_EQ(refusal(204, five, {"GET"}), "an answer of status 204 has no body, yet announces one");
  EXPECT_EQ(refusal(204, chunked, {"GET"}),
            "an answer of status 204 has no body, yet announces one");
  EXPECT_EQ(refusal(204, five, {"HEAD"}), "an answer of status 204 has no body, yet announces one");
  EXPECT_EQ(refusal(100, five, {"GET"}), "an answer of status 100 has no body, yet announces one");
  EXPECT_EQ(refusal(101, five, {"GET", true}),
            "an answer of status 101 has no body, yet announces one");
  EXPECT_EQ(refusal(200, chunked, {"CONNECT"}),
            "an answer of status 200 has no body, yet announces one");
  EXPECT_EQ(refusal(101, {}, {"GET"}), "an upgrade that was not asked for");
}

TEST(Framing, KnowsInterimAnswers) {
  EXPECT_TRUE(is_interim({.status = 100}));
  EXPECT_TRUE(is_interim({.status = 103}));
  EXPECT_FALSE(is_interim({.status = 101}));
  EXPECT_FALSE(is_interim({.status = 200}));
}

TEST(BodyReader, IsDoneAtOnceWhereThereIsNoBody) {
  for (const auto kind : {Kind::none, Kind::announced, Kind::length, Kind::tunnel}) {
    const BodyReader reader{{.kind = kind, .length = kind == Kind::announced ? 5U : 0U}};
    EXPECT_TRUE(reader.done());
    EXPECT_TRUE(reader.finish());
  }
  EXPECT_FALSE(BodyReader({.kind = Kind::chunked}).done());
  EXPECT_FALSE(BodyReader({.kind = Kind::until_close}).done());
}

TEST(BodyReader, TakesSoManyBytesAndNoMore) {
  const auto body = read({.kind = Kind::length, .length = 5}, {"hel", "lo, world"});
  EXPECT_EQ(body, (ReadBody{.data = "hello", .consumed = 5, .done = true, .refusal = ""}));
}

TEST(BodyReader, PointsIntoTheBytesItWasGiven) {
  const std::string_view text = "3\r\nabc\r\n0\r\n\r\n";
  BodyReader reader{{.kind = Kind::chunked}};
  const auto piece = reader.next(text);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->data.data(), text.data() + 3);
  EXPECT_EQ(piece->data, "abc");
}

TEST(BodyReader, KnowsWhetherAnEndWasTheEnd) {
  const auto ends = [](const Framing& framing, std::string_view text) {
    BodyReader reader{framing};
    while (!text.empty() && !reader.done()) {
      const auto piece = reader.next(text);
      if (!piece) return piece.error().text();
      text.remove_prefix(piece->consumed);
    }
    const auto status = reader.finish();
    return status ? std::string{} : status.error().text();
  };
  EXPECT_EQ(ends({.kind = Kind::until_close}, "anything"), "");
  EXPECT_EQ(ends({.kind = Kind::length, .length = 5}, "hello"), "");
  EXPECT_EQ(ends({.kind = Kind::length, .length = 5}, "hel"),
            "the connection ended 2 bytes before the body did");
  EXPECT_EQ(ends({.kind = Kind::chunked}, "1\r\na\r\n0\r\n\r\n"), "");
  EXPECT_EQ(ends({.kind = Kind::chunked}, "1\r\na\r\n0\r\n\r"),
            "the connection ended before the last chunk");
}

TEST(ChunkedReader, ReadsChunksAndDropsTrailers) {
  EXPECT_EQ(read_chunked("0\r\n\r\nx"), (ReadBody{"", 5, true, ""}));
  EXPECT_EQ(read_chunked("5\r\nhello\r\n0\r\n\r\n"), (ReadBody{"hello", 15, true, ""}));
  EXPECT_EQ(read_chunked("1\r\na\r\n0B\r\nhello world\r\n00\r\n\r\n").data, "ahello world");
  EXPECT_EQ(read_chunked("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n").data.size(), 20U);
  EXPECT_EQ(read_chunked("2\r\n\r\n\r\n0\r\n\r\n").data, "\r\n");
  EXPECT_EQ(read_chunked("1\r\na\r\n0\r\nX: y\r\nZ:\r\n\r\nGET").data, "a");
  EXPECT_TRUE(read_chunked("0000000000000001\r\na\r\n0\r\n\r\n").done);
  EXPECT_EQ(read_chunked("7fffffffffffffff\r\nabc"), (ReadBody{"abc", 21, false, ""}));
}

TEST(ChunkedReader, RefusesWhatItCouldReadInTwoWays) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {"\r\n", "body byte 0: a chunk begins with its size in hexadecimal"},
      {"g\r\n", "body byte 0: a chunk begins with its size in hexadecimal"},
      {" 1\r\n", "body byte 0: a chunk begins with its size in hexadecimal"},
      {"+1\r\n", "body byte 0: a chunk begins with its size in hexadecimal"},
      {";\r\n", "body byte 0: a chunk begins with its size in hexadecimal"},
      {"1 \r\n", "body byte 1: nothing but digits in the size of a chunk"},
      {"1\t\r\n", "body byte 1: nothing but digits in the size of a chunk"},
      {"0x1\r\n", "body byte 1: nothing but digits in the size of a chunk"},
      {"1h\r\n", "body byte 1: nothing but digits in the size of a chunk"},
      {"1,\r\n", "body byte 1: nothing but digits in the size of a chunk"},
      {std::string{"1\0\r\n", 4}, "body byte 1: nothing but digits in the size of a chunk"},
      {"1;a\r\n", "body byte 1: a chunk with an extension"},
      {"1;\r\n", "body byte 1: a chunk with an extension"},
      {"1\n", "body byte 1: a line ends in CR LF, not in LF alone"},
      {"1\r\r\n", "body byte 1: a CR stands only before the LF that ends a line"},
      {"1\ra", "body byte 1: a CR stands only before the LF that ends a line"},
      {"8000000000000000",
       "body byte 15: the size of a chunk has at most 16 digits and is below 2^63"},
      {"00000000000000001",
       "body byte 16: the size of a chunk has at most 16 digits and is below 2^63"},
      {"1\r\nab", "body byte 4: no CR LF after the data of a chunk"},
      {"1\r\na\n", "body byte 4: no CR LF after the data of a chunk"},
      {"1\r\na0\r\n", "body byte 4: no CR LF after the data of a chunk"},
      {"1\r\na\r0", "body byte 4: a CR stands only before the LF that ends a line"},
      {"1\r\na\r\n\r\n", "body byte 6: a chunk begins with its size in hexadecimal"},
      {"0\r\n\n", "trailers byte 0: a line ends in CR LF, not in LF alone"},
      {"0\r\n\r\r\n", "trailers byte 0: a CR stands only before the LF that ends a line"},
      {"0\r\nX\r\n", "trailers byte 0: a field without a colon"},
      {"0\r\nX : y\r\n", "trailers byte 1: a space before the colon"},
      {"0\r\n X: y\r\n", "trailers byte 0: a line that continues the one before it"},
      {"0\r\nX: \x01\r\n", "trailers byte 3: a control character in a value"},
      {"0\r\nX: " + std::string(8190, 'a'), "trailers byte 8192: longer than 8192 bytes"},
      {"0\r\nX: " + std::string(8189, 'a'), ""},
  };
  for (const auto& [text, refusal] : cases) {
    const ReadBody whole = read_chunked(text);
    EXPECT_EQ(whole.refusal, refusal) << text.substr(0, 20);
    EXPECT_FALSE(whole.done);
    EXPECT_EQ(read({.kind = Kind::chunked}, bytes_of(text)).refusal, refusal) << text.substr(0, 20);
  }
}

TEST(ChunkedReader, ReadsTheSameWhereverTheStreamIsCut) {
  const std::string_view text = "5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\nX: y\r\n\r\nGET /";
  const ReadBody whole = read_chunked(text);
  EXPECT_EQ(whole, (ReadBody{"hello, world", text.size() - 5, true, ""}));
  EXPECT_EQ(read({.kind = Kind::chunked}, bytes_of(text)), whole);
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(read({.kind = Kind::chunked}, {text.substr(0, cut), text.substr(cut)}), whole) << cut;
}

TEST(ChunkWriter, WritesWhatTheReaderReads) {
  std::string out;
  std::string meant;
  for (const std::size_t size : {0U, 1U, 15U, 16U, 4096U, 0U, 70000U}) {
    const std::string data(size, static_cast<char>('a' + size % 26));
    append_chunk(out, data);
    meant += data;
  }
  EXPECT_TRUE(out.starts_with("1\r\nb\r\nf\r\n"));
  out += kLastChunk;
  EXPECT_EQ(read_chunked(out), (ReadBody{meant, out.size(), true, ""}));
}

}  // namespace
}  // namespace cordon::http
