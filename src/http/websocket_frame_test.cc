// SPDX-License-Identifier: Apache-2.0
#include "http/websocket_frame.h"

#include <vector>

#include <gtest/gtest.h>

#include "http/websocket_key.h"

namespace cordon::http {
namespace {

constexpr MaskKey kKey{0x37, 0xFA, 0x21, 0x3D};

std::string masked(Opcode opcode, std::string_view payload, bool is_last = true) {
  std::string out;
  append_frame(out, opcode, payload, kKey, is_last);
  return out;
}

struct Read {
  std::vector<Message> messages;
  std::optional<CloseCode> violation;
  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view bytes, std::size_t piece, Role role = Role::server,
          std::size_t most = 100'000) {
  MessageReader reader{role, most};
  Read read;
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (!part.empty()) {
      auto step = reader.next(part);
      if (!step) {
        read.violation = step.error().code;
        return read;
      }
      part.remove_prefix(step->consumed);
      if (auto& message = step->message) read.messages.push_back(*std::move(message));
      if (!read.messages.empty() && read.messages.back().kind == Opcode::close) return read;
    }
  }
  return read;
}

// However it is cut.
Read read_all_ways(const std::string& bytes, Role role = Role::server, std::size_t most = 100'000) {
  Read whole = read(bytes, bytes.size(), role, most);
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 127U})
    EXPECT_EQ(read(bytes, piece, role, most), whole) << piece;
  return whole;
}

std::string text_of(const Read& read) {
  std::string text;
  for (const auto& message : read.messages) {
    text += std::to_string(static_cast<int>(message.kind)) + ":";
    text += message.data.size() < 40 ? message.data : std::to_string(message.data.size());
    text += message.code != 0 ? "/" + std::to_string(message.code) : "";
    text += " ";
  }
  if (read.violation) text += "! " + std::to_string(static_cast<int>(*read.violation));
  return text;
}

TEST(WebSocketFrame, WritesTheExamplesOfTheStandard) {
  std::string out;
  append_frame(out, Opcode::text, "Hello");
  EXPECT_EQ(out, std::string("\x81\x05Hello"));
  EXPECT_EQ(masked(Opcode::text, "Hello"),
            std::string("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"));
  out.clear();
  append_frame(out, Opcode::binary, std::string(256, 'x'));
  EXPECT_EQ(out.substr(0, 4), std::string("\x82\x7e\x01\x00", 4));
  out.clear();
  append_frame(out, Opcode::binary, std::string(65536, 'x'));
  EXPECT_EQ(out.substr(0, 10), std::string("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
  EXPECT_EQ(accepted_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketFrame, ReadsMessagesOfEverySizeAndCut) {
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 125U, 126U, 127U, 65535U, 65536U, 65537U}) {
    std::string data(size, '\0');
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 7);
    const Read got = read_all_ways(masked(Opcode::binary, data));
    ASSERT_EQ(got.messages.size(), 1U) << size;
    EXPECT_EQ(got.messages[0].data, data);
    std::string plain;
    append_frame(plain, Opcode::binary, data);
    EXPECT_EQ(read_all_ways(plain, Role::client), got);
  }
}

TEST(WebSocketFrame, ReadsAndRefusesByTheBook) {
  const std::string mask{"\x00\x00\x00\x00", 4};
  const auto raw = [&](std::string_view head, std::string_view payload = "") {
    return std::string{head} + mask + std::string{payload};
  };
  struct Case {
    const char* name;
    std::string bytes;
    std::string read;
  };
  const std::vector<Case> cases{
      {"text", masked(Opcode::text, "Hello"), "1:Hello "},
      {"empty text", masked(Opcode::text, ""), "1: "},
      {"two in one", masked(Opcode::text, "a") + masked(Opcode::binary, "b"), "1:a 2:b "},
      {"fragments",
       masked(Opcode::text, "a", false) + masked(Opcode::continuation, "b", false) +
           masked(Opcode::continuation, "c"),
       "1:abc "},
      {"a character over two fragments",
       masked(Opcode::text, "\xC3", false) + masked(Opcode::continuation, "\xA4"), "1:\xC3\xA4 "},
      {"ping between fragments",
       masked(Opcode::text, "a", false) + masked(Opcode::ping, "p") +
           masked(Opcode::continuation, "b"),
       "9:p 1:ab "},
      {"empty fragments",
       masked(Opcode::text, "", false) + masked(Opcode::continuation, "", false) +
           masked(Opcode::continuation, ""),
       "1: "},
      {"ping of 125", masked(Opcode::ping, std::string(125, 'p')), "9:125 "},
      {"unasked pong", masked(Opcode::pong, "x"), "10:x "},
      {"close", masked(Opcode::close, ""), "8:/1005 "},
      {"close with code", masked(Opcode::close, close_payload(CloseCode::normal, "bye")),
       "8:bye/1000 "},
      {"close with an own code", masked(Opcode::close, "\x0B\xB8"), "8:/3000 "},
      {"close of one byte", masked(Opcode::close, "\x03"), "! 1002"},
      {"close with 1005", masked(Opcode::close, "\x03\xED"), "! 1002"},
      {"close with 1006", masked(Opcode::close, "\x03\xEE"), "! 1002"},
      {"close with 1015", masked(Opcode::close, "\x03\xF7"), "! 1002"},
      {"close with 999", masked(Opcode::close, "\x03\xE7"), "! 1002"},
      {"close with 1016", masked(Opcode::close, "\x03\xF8"), "! 1002"},
      {"close with 2999", masked(Opcode::close, "\x0B\xB7"), "! 1002"},
      {"close with 5000", masked(Opcode::close, "\x13\x88"), "! 1002"},
      {"close with bad text", masked(Opcode::close, "\x03\xE8\xFF"), "! 1007"},
      {"no mask", "\x81\x05Hello", "! 1002"},
      {"reserved bit 1", raw("\xC1\x80"), "! 1002"},
      {"reserved bit 2", raw("\xA1\x80"), "! 1002"},
      {"reserved bit 3", raw("\x91\x80"), "! 1002"},
      {"opcode 3", raw("\x83\x80"), "! 1002"},
      {"opcode 7", raw("\x87\x80"), "! 1002"},
      {"opcode 11", raw("\x8B\x80"), "! 1002"},
      {"opcode 15", raw("\x8F\x80"), "! 1002"},
      {"cut ping", raw("\x09\x80"), "! 1002"},
      {"cut close", raw("\x08\x80"), "! 1002"},
      {"ping of 126", raw(std::string_view{"\x89\xFE\x00\x7E", 4}, std::string(126, 'x')),
       "! 1002"},
      {"continues nothing", masked(Opcode::continuation, "a"), "! 1002"},
      {"text in a message", masked(Opcode::text, "a", false) + masked(Opcode::text, "b"), "! 1002"},
      {"continues after the end",
       masked(Opcode::text, "a", false) + masked(Opcode::continuation, "b") +
           masked(Opcode::continuation, "c"),
       "1:ab ! 1002"},
      {"two bytes for 125", raw(std::string_view{"\x82\xFE\x00\x7D", 4}), "! 1002"},
      {"eight bytes for 65535",
       raw(std::string_view{"\x82\xFF\x00\x00\x00\x00\x00\x00\xFF\xFF", 10}), "! 1002"},
      {"64 bits of length", raw(std::string_view{"\x82\xFF\x80\x00\x00\x00\x00\x00\x00\x00", 10}),
       "! 1002"},
      {"63 bits of length", raw(std::string_view{"\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10}),
       "! 1009"},
      {"no UTF-8", masked(Opcode::text, "\xFF"), "! 1007"},
      {"overlong UTF-8", masked(Opcode::text, "\xC0\xAF"), "! 1007"},
      {"a surrogate", masked(Opcode::text, "\xED\xA0\x80"), "! 1007"},
      {"half a character", masked(Opcode::text, "\xC3"), "! 1007"},
      {"any bytes as binary", masked(Opcode::binary, "\xFF"), "2:\xFF "},
  };
  for (const auto& [name, bytes, expected] : cases)
    EXPECT_EQ(text_of(read_all_ways(bytes)), expected) << name;
}

TEST(WebSocketFrame, BoundsAMessageOverAllItsFragments) {
  EXPECT_EQ(text_of(read_all_ways(masked(Opcode::text, "12345678"), Role::server, 8)),
            "1:12345678 ");
  EXPECT_EQ(text_of(read_all_ways(masked(Opcode::text, "123456789"), Role::server, 8)), "! 1009");
  const std::string fragments =
      masked(Opcode::text, "1234", false) + masked(Opcode::ping, "not counted") +
      masked(Opcode::continuation, "5678", false) + masked(Opcode::continuation, "9");
  EXPECT_EQ(text_of(read_all_ways(fragments, Role::server, 8)), "9:not counted ! 1009");
  // Refused by its length alone: none of it was waited for, none is held.
  MessageReader reader{Role::server, 8};
  const auto step = reader.next(std::string_view{"\x82\xFE\x10\x00\x01\x02\x03\x04", 8});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, CloseCode::too_big);
  EXPECT_EQ(reader.held(), 0U);
}

TEST(WebSocketFrame, RefusesMaskedFramesOfAServer) {
  EXPECT_EQ(text_of(read_all_ways(masked(Opcode::text, "a"), Role::client)), "! 1002");
}

TEST(WebSocketFrame, CutsAReasonBetweenCharacters) {
  std::string reason(122, 'x');
  reason += "\xC3\xA4";
  const std::string payload = close_payload(CloseCode::internal, reason);
  EXPECT_EQ(payload.size(), 124U);
  EXPECT_EQ(text_of(read_all_ways(masked(Opcode::close, payload))), "8:122/1011 ");
}

}  // namespace
}  // namespace cordon::http
