// SPDX-License-Identifier: Apache-2.0
#include "http/upgrade.h"

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "http/cases_test.h"

namespace cordon::http {
namespace {

std::string replaced(std::string_view whole, std::string_view from, std::string_view to) {
  std::string text{whole};
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

constexpr std::string_view kAsk =
    "GET /chat HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: keep-alive, "
    "Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat, superchat\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view kAccept =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n";

std::string text_of(const Status& status) { return status ? "" : status.error().text(); }

TEST(Handshake, IsRecognised) {
  EXPECT_EQ(text_of(check_handshake(request_of(kAsk))), "");
  EXPECT_TRUE(asks_upgrade(request_of(kAsk)));
  EXPECT_EQ(text_of(check_accepted(request_of(kAsk), answer_of(kAccept))), "");
  EXPECT_FALSE(asks_upgrade(request_of("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")));
}

TEST(Handshake, IsRefusedWithAnythingMissingOrOdd) {
  const std::string_view upgrade = "WebSocket: Upgrade is `websocket`, and Connection names it";
  const std::string_view key = "WebSocket: the key is 16 bytes in base64";
  const std::string_view version = "WebSocket: the version of the protocol is 13";
  const std::vector<std::tuple<std::string_view, std::string_view, std::string_view>> cases{
      {"GET", "POST", "WebSocket: the method is GET"},
      {"HTTP/1.1", "HTTP/1.0", "WebSocket: the version is HTTP/1.1"},
      {"Upgrade: websocket", "Upgrade: h2c", upgrade},
      {"Upgrade: websocket", "Upgrade: websocket, h2c", upgrade},
      {"Upgrade: websocket", "Upgrade: websocket\r\nUpgrade: websocket", upgrade},
      {"Upgrade: websocket", "X: y", upgrade},
      {"keep-alive, Upgrade", "keep-alive", upgrade},
      {"Version: 13", "Version: 12", version},
      {"Version: 13", "Version: 13, 8", version},
      {"Version: 13", "Version: 13\r\nSec-WebSocket-Version: 13", version},
      {"Sec-WebSocket-Version: 13\r\n", "", version},
      {"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", key},
      {"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZR==", key},
      {"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j", key},
      {"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=a", key},
      {"dGhlIHNhbXBsZSBub25jZQ==", "dGhl-HNhbXBsZSBub25jZQ==", key},
      {"Sec-WebSocket-Version", "Content-Length: 1\r\nSec-WebSocket-Version",
       "WebSocket: a handshake has no body"},
      {"Sec-WebSocket-Version", "Transfer-Encoding: chunked\r\nSec-WebSocket-Version",
       "WebSocket: a handshake has no body"},
      {"GET /chat", "GET http://a.test/chat", ""},
      {"Upgrade: websocket", "Upgrade: WebSocket", ""},
      {"Sec-WebSocket-Version", "Content-Length: 0\r\nSec-WebSocket-Version", ""},
  };
  for (const auto& [from, to, refusal] : cases) {
    const auto head = request_of(replaced(kAsk, from, to));
    EXPECT_EQ(text_of(check_handshake(head)), refusal) << to;
  }
}

TEST(Handshake, IsAcceptedByNothingButItsAnswer) {
  const std::string_view upgrade = "WebSocket: Upgrade is `websocket`, and Connection names it";
  const std::string_view digest = "WebSocket: the accepted key is 20 bytes in base64";
  const std::vector<std::tuple<std::string_view, std::string_view, std::string_view>> cases{
      {"101", "200", "WebSocket: the answer is no 101"},
      {"101", "426", "WebSocket: the answer is no 101"},
      {"HTTP/1.1", "HTTP/1.0", "WebSocket: the version is HTTP/1.1"},
      {"Upgrade: websocket", "Upgrade: h2c", upgrade},
      {"Upgrade: websocket", "X: y", upgrade},
      {"Connection: Upgrade", "Connection: close", upgrade},
      {"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp=", digest},
      {"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xO==", digest},
      {"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "", digest},
      {"Protocol: chat", "Protocol: other", "WebSocket: a subprotocol that was not offered"},
      {"Protocol: chat", "Protocol: chat, superchat",
       "WebSocket: a subprotocol that was not offered"},
      {"Protocol: chat", "Protocol: chat\r\nSec-WebSocket-Protocol: chat",
       "WebSocket: a subprotocol that was not offered"},
      {"Protocol: chat", "Extensions: permessage-deflate",
       "WebSocket: extensions that were not offered"},
      {"Protocol: chat", "Protocol: chat\r\nContent-Length: 3", "WebSocket: a 101 has no body"},
      {"Protocol: chat", "Protocol: superchat", ""},
      {"Sec-WebSocket-Protocol: chat\r\n", "", ""},
  };
  for (const auto& [from, to, refusal] : cases) {
    const auto answer = answer_of(replaced(kAccept, from, to));
    EXPECT_EQ(text_of(check_accepted(request_of(kAsk), answer)), refusal) << to;
  }
  const auto offering = request_of(replaced(
      kAsk, "Sec-WebSocket-Version", "Sec-WebSocket-Extensions: a\r\nSec-WebSocket-Version"));
  const auto extended = answer_of(replaced(kAccept, "Protocol: chat", "Extensions: a"));
  EXPECT_EQ(text_of(check_accepted(offering, extended)), "");
}

}  // namespace
}  // namespace cordon::http
