// SPDX-License-Identifier: Apache-2.0
#include "egress/hello_watch.h"

#include <openssl/sha.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "egress/made_hello_test.h"
#include "egress/tls_pair_test.h"

namespace cordon::egress {
namespace {

// What a watch says of a client's bytes in pieces of `chunk`; nothing: passed on.
std::optional<HelloFault> watched(HelloWatch& watch, std::string_view bytes, std::size_t chunk) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
    const auto refusal = watch.from_client(as_bytes(bytes.substr(0, chunk)));
    if (refusal) return refusal->fault;
  }
  return std::nullopt;
}

std::string without_first_hello(const std::string& bytes) {
  HelloPeeker peeker;
  EXPECT_TRUE(std::holds_alternative<ClientHello>(peeker.push(as_bytes(bytes))));
  return bytes.substr(peeker.size());
}

const char* const kWatchedName = "api.example.com";

std::string hello_for(std::string_view name, std::size_t fragment = 1000) {
  Hello hello;
  hello.extensions = server_name(name);
  std::string all;
  const std::string message = hello.message();
  for (std::size_t at = 0; at < message.size(); at += fragment)
    all += record(message.substr(at, fragment));
  return all;
}

// A ServerHello; `random` of 32 bytes.
std::string answer_of(std::string_view random) {
  return record("\x02" + sized(3, "\x03\x03" + std::string{random} + std::string(6, 'x')));
}

std::string retry_random() {
  const std::string_view text = "HelloRetryRequest";
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

TEST(HelloWatch, IsOverWithTheAnswerOfAServerThatWantsNoOtherHello) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsEnd client = tls_client(kWatchedName, "P-256", version);
    TlsEnd server = tls_server("P-256");
    HelloWatch watch{kWatchedName};
    const std::string first = client.hear("");
    EXPECT_EQ(without_first_hello(first), "");
    const std::string answer = server.hear(first);
    EXPECT_FALSE(watch.is_over());
    watch.from_server(as_bytes(answer));
    EXPECT_TRUE(watch.is_over());
    const std::string second = client.hear(answer);
    EXPECT_EQ(watched(watch, second, 1), std::nullopt);
    client.hear(server.hear(second));
    EXPECT_TRUE(client.is_connected());
  }
}

TEST(HelloWatch, PassesTheSecondHelloOfAnHonestClient) {
  TlsEnd client = tls_client(kWatchedName, "P-256:P-384", TLS1_3_VERSION);
  TlsEnd server = tls_server("P-384");
  HelloWatch watch{kWatchedName};
  const std::string answer = server.hear(client.hear(""));
  watch.from_server(as_bytes(answer));
  EXPECT_FALSE(watch.is_over());  // it asks for another
  const std::string second = client.hear(answer);
  EXPECT_EQ(watched(watch, second, 7), std::nullopt);
  EXPECT_TRUE(watch.is_over());
  client.hear(server.hear(second));
  EXPECT_TRUE(client.is_connected());
}

TEST(HelloWatch, RefusesASecondHelloForAnotherName) {
  for (const std::size_t chunk : {1U, 5U, 100'000U}) {
    TlsEnd client = tls_client(kWatchedName, "P-256:P-384", TLS1_3_VERSION);
    TlsEnd server = tls_server("P-384");
    HelloWatch watch{kWatchedName};
    const std::string answer = server.hear(client.hear(""));
    watch.from_server(as_bytes(answer));
    ::SSL_set_tlsext_host_name(client.ssl(), "other.example.com");
    const std::string second = client.hear(answer);
    EXPECT_EQ(watched(watch, second, chunk), HelloFault::other_name);
    EXPECT_FALSE(watch.is_over());

    // Without the watch it would have gone through: the server takes the second name.
    client.hear(server.hear(second));
    EXPECT_TRUE(client.is_connected());
    EXPECT_STREQ(::SSL_get_servername(server.ssl(), TLSEXT_NAMETYPE_host_name),
                 "other.example.com");
  }
}

TEST(HelloWatch, JudgesASecondHelloThatDoesNotWaitForTheServer) {
  const std::string ccs = "\x14\x03\x03" + sized(2, "\x01");
  const std::string early = "\x17\x03\x03" + sized(2, "early data");
  std::string both = early;
  both.append(early).append(ccs);
  for (const std::string& before : {std::string{}, ccs, early, both}) {
    for (const std::size_t fragment : {1U, 6U, 1000U}) {
      for (const std::size_t chunk : {1U, 4U, 1000U}) {
        HelloWatch honest{kWatchedName};
        EXPECT_EQ(watched(honest, before + hello_for(kWatchedName, fragment), chunk), std::nullopt);
        EXPECT_TRUE(honest.is_over());
        HelloWatch other{kWatchedName};
        EXPECT_EQ(watched(other, before + hello_for("other.example.com", fragment), chunk),
                  HelloFault::other_name);
        EXPECT_FALSE(other.is_over());
        EXPECT_TRUE(other.from_client(as_bytes("more")));  // for good
      }
    }
  }
}

TEST(HelloWatch, KnowsARetryByItsRandom) {
  for (const std::size_t chunk : {1U, 20U, 1000U}) {
    const auto is_over = [&](const std::string& answer) {
      HelloWatch watch{kWatchedName};
      for (std::size_t at = 0; at < answer.size(); at += chunk)
        watch.from_server(as_bytes(std::string_view{answer}.substr(at, chunk)));
      return watch.is_over();
    };
    std::string random = retry_random();
    EXPECT_FALSE(is_over(answer_of(random)));
    random.back() ^= 1;
    EXPECT_TRUE(is_over(answer_of(random)));
    EXPECT_FALSE(is_over(answer_of(random).substr(0, 42)));       // not yet all of it
    EXPECT_TRUE(is_over("\x15\x03\x03" + sized(2, "\x02\x28")));  // an alert
    EXPECT_TRUE(is_over(record("\x0B certificates at once")));
    for (const bool retry : {true, false}) {
      std::string pieces;
      for (const char c : answer_of(retry ? retry_random() : random).substr(5))
        pieces += record(std::string(1, c));
      EXPECT_EQ(is_over(pieces), !retry);
    }
  }
}

TEST(HelloWatch, RefusesBytesThatAreNoTlsBehindTheHello) {
  const auto fault = [](const std::string& bytes) {
    HelloWatch watch{kWatchedName};
    return watched(watch, bytes, 3);
  };
  EXPECT_EQ(fault("GET / HTTP/1.1\r\n"), HelloFault::not_tls);
  EXPECT_EQ(fault("\x18\x03\x03" + sized(2, "x")), HelloFault::not_tls);
  EXPECT_EQ(fault("\x17\x02\x03" + sized(2, "x")), HelloFault::not_tls);
  EXPECT_EQ(fault("\x17\x03\x03" + sized(2, "x")), std::nullopt);
  EXPECT_EQ(fault("\x17\x03\x03" + sized(2, "")), std::nullopt);
  EXPECT_EQ(fault("\x16\x03\x03" + sized(2, "")), HelloFault::malformed);
  EXPECT_EQ(fault("\x16\x03\x03" + sized(2, "\x10 a key exchange of TLS 1.2")),
            HelloFault::malformed);  // before the server has said that it speaks TLS 1.2
}

}  // namespace
}  // namespace cordon::egress
