// SPDX-License-Identifier: Apache-2.0
#include "egress/hello_peeker.h"

#include <functional>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "egress/made_hello_test.h"

namespace cordon::egress {
namespace {

using Verdict = HelloPeeker::Verdict;

Verdict peeked(std::string_view bytes, std::size_t chunk = std::size_t{1} << 20U) {
  HelloPeeker peeker;
  for (; bytes.size() > chunk; bytes.remove_prefix(chunk))
    peeker.push(as_bytes(bytes.substr(0, chunk)));
  return peeker.push(as_bytes(bytes));
}

// However it is cut.
std::string outcome(std::string_view bytes) {
  const Verdict verdict = peeked(bytes);
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 64U, 1000U}) {
    EXPECT_EQ(peeked(bytes, chunk), verdict) << chunk;
  }
  if (const auto* const refusal = std::get_if<HelloRefusal>(&verdict)) return refusal->why;
  return std::holds_alternative<ClientHello>(verdict) ? "a hello" : "needs more";
}

// A hello whose message is `size` bytes long.
std::string message_of(std::size_t size) {
  Hello hello;
  const std::size_t bare = hello.message().size();
  hello.extensions =
      server_name("api.example.com") + extension(21, std::string(size - bare - 4, '\0'));
  EXPECT_EQ(hello.message().size(), size);
  return hello.message();
}

std::string in_records(std::string_view message, std::size_t fragment) {
  std::string all;
  for (; !message.empty(); message.remove_prefix(std::min(fragment, message.size())))
    all += record(message.substr(0, fragment));
  return all;
}

TEST(HelloPeeker, FindsAHelloHoweverItIsSpreadOverRecords) {
  const std::string message = Hello{}.message();
  const Verdict whole = peeked(record(message));
  EXPECT_EQ(whole, Verdict{(ClientHello{.server_name = "api.example.com", .versions = {0x0303}})});
  for (std::size_t fragment = 1; fragment <= message.size(); ++fragment) {
    const std::string bytes = in_records(message, fragment);
    EXPECT_EQ(outcome(bytes), "a hello") << fragment;
    EXPECT_EQ(peeked(bytes), whole) << fragment;
    EXPECT_EQ(outcome(std::string_view{bytes}.substr(0, bytes.size() - 1)), "needs more");
  }
}

TEST(HelloPeeker, LeavesWhatFollowsTheHelloAlone) {
  EXPECT_EQ(outcome(record(Hello{}.message()) + "\x17\x03\x03 early data"), "a hello");
  EXPECT_EQ(outcome(record(Hello{}.message()) + "whatever"), "a hello");
  for (const std::size_t fragment : {3U, 1000U}) {
    HelloPeeker peeker;
    const std::string hello = in_records(Hello{}.message(), fragment);
    peeker.push(as_bytes(hello + "whatever"));
    EXPECT_EQ(peeker.size(), hello.size());
  }
  EXPECT_EQ(outcome(record(Hello{}.message() + "x")), "bytes after the hello in its record");
  EXPECT_EQ(outcome(record(Hello{}.message() + Hello{}.message())),
            "bytes after the hello in its record");
}

TEST(HelloPeeker, RefusesOtherProtocolsAtTheirFirstByte) {
  for (const std::string text : {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\x05\x01",
                                 "\r\n", "\x15\x03\x01", "\x17\x03\x03"}) {
    EXPECT_EQ(outcome(text), "bytes that are no TLS") << text;
    EXPECT_EQ(outcome(text.substr(0, 1)), "bytes that are no TLS") << text;
  }
  EXPECT_EQ(outcome(std::string{"\x80\x2E\x01\x00\x02", 5}), "no TLS, or a hello of SSL 2");
  EXPECT_EQ(outcome(std::string(1, '\0')), "bytes that are no TLS");
  EXPECT_EQ(outcome(std::string{"\x16\xFE\xFF", 3}), "bytes that are no TLS");  // DTLS
}

TEST(HelloPeeker, RefusesRecordsThatNoClientBeginsWith) {
  const auto twisted = [](const std::function<void(std::string&)>& twist) {
    std::string bytes = record(Hello{}.message());
    twist(bytes);
    return outcome(bytes);
  };
  EXPECT_EQ(twisted([](std::string&) {}), "a hello");
  EXPECT_EQ(twisted([](std::string& bytes) { bytes[2] = 3; }), "a hello");
  EXPECT_EQ(twisted([](std::string& bytes) { bytes[2] = 0; }), "a record of an unknown version");
  EXPECT_EQ(twisted([](std::string& bytes) { bytes[2] = 4; }), "a record of an unknown version");
  EXPECT_EQ(twisted([](std::string& bytes) { bytes[5] = 2; }),
            "a message other than a client's hello");
  EXPECT_EQ(twisted([](std::string& bytes) { bytes.insert(0, record("")); }), "an empty record");
  EXPECT_EQ(twisted([](std::string& bytes) { ++bytes[8]; }), "needs more");
  EXPECT_EQ(twisted([](std::string& bytes) { --bytes[8]; }), "bytes after the hello in its record");

  const std::string message = Hello{}.message();
  EXPECT_EQ(outcome(record(message.substr(0, 9)) + "\x15\x03\x01"), "bytes that are no TLS");
}

TEST(HelloPeeker, IsBounded) {
  const std::size_t most = HelloPeeker::kMostBytes;
  EXPECT_EQ(outcome(record(message_of(most - 5))), "a hello");
  EXPECT_EQ(outcome(record(message_of(most - 4))), "a hello of more than 16 KiB");
  // Records of one byte each have five more.
  EXPECT_EQ(outcome(in_records(message_of(most / 6), 1)), "a hello");
  EXPECT_EQ(outcome(in_records(message_of(most / 6 + 1), 1)), "a hello of more than 16 KiB");
  // A length that can never fit is refused when it is read.
  EXPECT_EQ(outcome(record(std::string{"\x01\xFF\xFF\xFF", 4})), "a hello of more than 16 KiB");
  EXPECT_EQ(outcome(std::string{"\x16\x03\x01\xFF\xFF", 5}), "a hello of more than 16 KiB");
}

TEST(HelloPeeker, StaysWithItsVerdict) {
  HelloPeeker peeker;
  EXPECT_EQ(peeker.push({}), Verdict{HelloPeeker::NeedsMore{}});
  const std::string bytes = record(Hello{}.message());
  const Verdict verdict = peeker.push(as_bytes(bytes));
  EXPECT_TRUE(std::holds_alternative<ClientHello>(verdict));
  EXPECT_EQ(peeker.push(as_bytes("GET /")), verdict);
  EXPECT_EQ(peeker.push({}), verdict);
}

}  // namespace
}  // namespace cordon::egress
