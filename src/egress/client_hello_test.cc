// SPDX-License-Identifier: Apache-2.0
#include "egress/client_hello.h"

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "egress/dns_bytes_test.h"
#include "egress/hello_peeker.h"
#include "egress/made_hello_test.h"
#include "egress/openssl_reader_test.h"
#include "egress/real_hellos_test.h"

namespace cordon::egress {
namespace {

using Verdict = HelloPeeker::Verdict;

Verdict peeked(std::span<const std::byte> bytes, std::size_t chunk) {
  HelloPeeker peeker;
  for (; bytes.size() > chunk; bytes = bytes.subspan(chunk)) peeker.push(bytes.first(chunk));
  return peeker.push(bytes);
}

Bytes bytes_of(std::string_view text) {
  const auto raw = as_bytes(text);
  return {raw.begin(), raw.end()};
}

std::optional<HelloFault> fault_of(const Hello& hello) {
  const auto verdict = parse_client_hello(bytes_of(hello.body()));
  if (verdict) return std::nullopt;
  EXPECT_FALSE(verdict.error().why.empty());
  return verdict.error().fault;
}

TEST(ClientHello, OfRealClientsIsRead) {
  struct Case {
    std::string_view hex;
    std::optional<std::string> name;
    std::vector<std::string> protocols;
    bool tls13;
  };
  const Case cases[] = {
      {real::kOpenssl, "api.example.com", {}, true},
      {real::kOpensslWithoutName, std::nullopt, {}, false},
      {real::kCurl, "pypi.org", {"h2", "http/1.1"}, true},
      {real::kPython, "files.pythonhosted.org", {"http/1.1"}, true},
      {real::kNode, "registry.npmjs.org", {"h2", "http/1.1"}, true},
      {real::kGit, "github.com", {"h2", "http/1.1"}, true},
      {real::kWget, "localhost", {}, true},
  };
  for (const Case& each : cases) {
    const Bytes bytes = from_hex(each.hex);
    const Verdict verdict = peeked(bytes, bytes.size());
    ASSERT_TRUE(std::holds_alternative<ClientHello>(verdict)) << each.name.value_or("no name");
    const auto& hello = std::get<ClientHello>(verdict);
    EXPECT_EQ(hello.server_name, each.name);
    EXPECT_EQ(hello.protocols, each.protocols) << each.name.value_or("no name");
    EXPECT_FALSE(hello.encrypted);
    EXPECT_EQ(std::ranges::find(hello.versions, 0x0304) != hello.versions.end(), each.tls13);
    EXPECT_NE(std::ranges::find(hello.versions, 0x0303), hello.versions.end());
    for (const std::size_t chunk : {1U, 2U, 5U, 77U}) EXPECT_EQ(peeked(bytes, chunk), verdict);
    const auto all_but_one = std::span{bytes}.first(bytes.size() - 1);
    EXPECT_EQ(peeked(all_but_one, bytes.size()), Verdict{HelloPeeker::NeedsMore{}});
  }
}

TEST(ClientHello, HasTheNameThatAServerWithOpensslSees) {
  for (const std::string_view hex :
       {real::kOpenssl, real::kCurl, real::kPython, real::kNode, real::kGit, real::kWget}) {
    const Bytes bytes = from_hex(hex);
    const auto hello = std::get<ClientHello>(peeked(bytes, bytes.size()));
    // A list of one name: its length, the kind, the length of the name, the name.
    std::string name = read_by_openssl(bytes)
                           .value_or(OpensslHello{})
                           .name_extension.value_or("refused or nameless")
                           .substr(5);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_EQ(hello.server_name, name);
  }
  const Bytes nameless = from_hex(real::kOpensslWithoutName);
  const OpensslHello none{.name_extension = "none was read"};
  EXPECT_FALSE(read_by_openssl(nameless).value_or(none).name_extension);
  EXPECT_FALSE(read_by_openssl(std::span{nameless}.first(nameless.size() - 1)));
}

TEST(ClientHello, IsReadWithoutExtensions) {
  Hello hello;
  hello.extensions.reset();
  const auto verdict = parse_client_hello(bytes_of(hello.body()));
  ASSERT_TRUE(verdict) << verdict.error().why;
  EXPECT_EQ(*verdict, (ClientHello{.versions = {0x0303}}));
}

TEST(ClientHello, HasItsNameInLowerCase) {
  Hello hello;
  hello.extensions = server_name("API.Example.COM");
  EXPECT_EQ(parse_client_hello(bytes_of(hello.body()))->server_name, "api.example.com");
}

TEST(ClientHello, WithAnotherSpellingOfAHostIsRefused) {
  for (const std::string& odd : std::vector<std::string>{
           "", ".", "api.example.com.", "1.2.3.4", "127.1", "2130706433", "0x7f000001", "::1",
           "[::1]", "a_b.example", "*.example.com", "a b.example", "b\xC3\xBC.example",
           std::string{"evil.test\0.example.com", 22}, "a\n.example", "api.example.com:443",
           std::string(64, 'a') + ".example"}) {
    Hello hello;
    hello.extensions = server_name(odd);
    EXPECT_EQ(fault_of(hello), HelloFault::bad_name) << odd;
  }
}

TEST(ClientHello, IsStrict) {
  struct Twist {
    std::string_view what;
    std::function<void(Hello&)> apply;
    std::optional<HelloFault> fault;
  };
  const auto only = [](const std::string& extensions) {
    return [extensions](Hello& hello) { hello.extensions = extensions; };
  };
  const std::string name = server_name("a.example");
  const std::string key = extension(41, "k");
  const Twist twists[] = {
      {"nothing", [](Hello&) {}, std::nullopt},
      {"SSL 3", [](Hello& hello) { hello.version = "\x03" + std::string(1, '\0'); },
       HelloFault::malformed},
      {"TLS 1.0", [](Hello& hello) { hello.version = "\x03\x01"; }, std::nullopt},
      {"TLS 1.3 in the wrong place", [](Hello& hello) { hello.version = "\x03\x04"; },
       HelloFault::malformed},
      {"a session id of 32", [](Hello& hello) { hello.session = std::string(32, 's'); },
       std::nullopt},
      {"a session id of 33", [](Hello& hello) { hello.session = std::string(33, 's'); },
       HelloFault::malformed},
      {"no cipher suite", [](Hello& hello) { hello.suites = ""; }, HelloFault::malformed},
      {"half a cipher suite", [](Hello& hello) { hello.suites = "abc"; }, HelloFault::malformed},
      {"no compression method", [](Hello& hello) { hello.compressions = ""; },
       HelloFault::malformed},
      {"only compressed", [](Hello& hello) { hello.compressions = "\x01"; }, HelloFault::malformed},
      {"a trailing byte", [](Hello& hello) { hello.trailing = "x"; }, HelloFault::malformed},
      {"no extension in an extensions block", only(""), std::nullopt},
      {"the same extension twice", only(extension(5, "a") + extension(5, "a")),
       HelloFault::malformed},
      {"two server names in two extensions", only(name + server_name("b.example")),
       HelloFault::malformed},
      {"two extensions", only(extension(5, "a") + extension(6, "a")), std::nullopt},
      {"an extension that is cut", only(extension(5, "a").substr(0, 4)), HelloFault::malformed},
      {"half an extension's header", only(name + "ab"), HelloFault::malformed},
      {"two server names in one extension",
       only(extension(0, sized(2, name_entry(0, "a.example") + name_entry(0, "b.example")))),
       HelloFault::bad_name},
      {"the same server name twice",
       only(extension(0, sized(2, name_entry(0, "a.example") + name_entry(0, "a.example")))),
       HelloFault::bad_name},
      {"a name of another kind", only(extension(0, sized(2, name_entry(1, "a.example")))),
       HelloFault::bad_name},
      {"an empty list of names", only(extension(0, sized(2, ""))), HelloFault::malformed},
      {"a server's empty extension", only(extension(0, "")), HelloFault::malformed},
      {"a byte after the list of names",
       only(extension(0, sized(2, name_entry(0, "a.example")) + "x")), HelloFault::malformed},
      {"a list of names longer than its extension",
       only(extension(0, std::string{"\x00\x20", 2} + name_entry(0, "a.example"))),
       HelloFault::malformed},
      {"ALPN", only(extension(16, sized(2, sized(1, "h2")))), std::nullopt},
      {"ALPN with an empty name", only(extension(16, sized(2, sized(1, "")))),
       HelloFault::malformed},
      {"ALPN without a name", only(extension(16, sized(2, ""))), HelloFault::malformed},
      {"ALPN that is cut", only(extension(16, sized(2, "\x03h2"))), HelloFault::malformed},
      {"ALPN and a byte", only(extension(16, sized(2, sized(1, "h2")) + "x")),
       HelloFault::malformed},
      {"half a version", only(extension(43, sized(1, "\x03\x04\x03"))), HelloFault::malformed},
      {"no version", only(extension(43, sized(1, ""))), HelloFault::malformed},
      {"a pre-shared key at the end", only(name + key), std::nullopt},
      {"a pre-shared key before the end", only(key + name), HelloFault::malformed},
  };
  for (const Twist& twist : twists) {
    Hello hello;
    twist.apply(hello);
    EXPECT_EQ(fault_of(hello), twist.fault) << twist.what;
  }
}

TEST(ClientHello, CutAnywhereIsMalformed) {
  const Bytes body = bytes_of(Hello{}.body());
  ASSERT_TRUE(parse_client_hello(body));
  const std::size_t without_extensions = 2 + 32 + 1 + 2 + 2 + 1 + 1;
  for (std::size_t size = 0; size < body.size(); ++size) {
    const bool whole = size == without_extensions;  // a hello of old, and whole
    EXPECT_EQ(parse_client_hello(std::span{body}.first(size)).has_value(), whole) << size;
  }
}

TEST(HelloJudgement, WantsTheNameThatTheAddressStandsFor) {
  const auto fault = [](const ClientHello& hello, std::string_view name) {
    const auto refusal = judge_hello(hello, name);
    return refusal ? std::optional{refusal->fault} : std::nullopt;
  };
  const ClientHello hello{.server_name = "api.example.com"};
  EXPECT_EQ(fault(hello, "api.example.com"), std::nullopt);
  for (const std::string_view other :
       {"example.com", "pi.example.com", "api.example.co", "x.api.example.com", ""}) {
    EXPECT_EQ(fault(hello, other), HelloFault::other_name) << other;
  }
  EXPECT_EQ(fault(ClientHello{}, "api.example.com"), HelloFault::no_name);
  EXPECT_EQ(judge_hello(hello, "pypi.org").value_or(HelloRefusal{}).why,
            "the connection is for pypi.org, and TLS says api.example.com");
}

TEST(HelloJudgement, RefusesAHelloThatHidesAnother) {
  for (unsigned type = 0; type <= 0xFFFF; type += type < 0xF000 ? 7 : 1) {
    if (type == 0 || type == 16 || type == 43) continue;
    Hello hello;
    hello.extensions = server_name("a.example") + extension(static_cast<std::uint16_t>(type), "x");
    const auto parsed = parse_client_hello(bytes_of(hello.body()));
    ASSERT_TRUE(parsed) << type;
    const bool hides = (type >= 0xFE08 && type <= 0xFE0D) || type == 0xFD00 || type == 0xFFCE;
    ASSERT_EQ(parsed->encrypted, hides) << type;
    const auto refusal = judge_hello(*parsed, "a.example");
    ASSERT_EQ(refusal.has_value(), hides) << type;
    if (refusal) {
      EXPECT_EQ(refusal->fault, HelloFault::encrypted_name);
    }
  }
}

TEST(HelloFaults, HaveAStableWord) {
  EXPECT_EQ(code_of(HelloFault::other_name), "misdirected");
  for (const HelloFault fault :
       {HelloFault::not_tls, HelloFault::too_long, HelloFault::malformed, HelloFault::bad_name,
        HelloFault::no_name, HelloFault::encrypted_name}) {
    EXPECT_EQ(code_of(fault), "opaque_tunnel");
  }
}

}  // namespace
}  // namespace cordon::egress
