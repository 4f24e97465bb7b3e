// SPDX-License-Identifier: Apache-2.0
// Any bytes of a TLS client: the verdict is the same however they are cut and however the hello is
// spread over records, it comes once and stays; and a server with OpenSSL sees no other name.
#include "egress/client_hello.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "egress/hello_peeker.h"
#include "egress/openssl_reader_test.h"
#include "policy/host.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace egress = cordon::egress;
using egress::ClientHello;
using egress::HelloPeeker;
using egress::HelloRefusal;
using Bytes = std::span<const std::byte>;
using Verdict = HelloPeeker::Verdict;

bool needs_more(const Verdict& verdict) {
  return std::holds_alternative<HelloPeeker::NeedsMore>(verdict);
}

// The verdict, and after how many bytes it came: the pieces are as long as `seed` says, never 0.
struct Peeked {
  Verdict verdict;
  std::size_t at_most = 0;
};
Peeked peek(Bytes bytes, std::uint32_t seed, std::uint32_t longest) {
  HelloPeeker peeker;
  std::size_t pushed = 0;
  while (pushed < bytes.size()) {
    seed = seed * 1664525U + 1013904223U;
    const std::size_t size =
        std::min<std::size_t>(1 + (seed >> 8U) % longest, bytes.size() - pushed);
    const Verdict& verdict = peeker.push(bytes.subspan(pushed, size));
    pushed += size;
    if (!needs_more(verdict)) return {verdict, pushed};
  }
  return {peeker.push({}), pushed};
}

// The hello that ends `bytes`, in records of `fragment` bytes.
std::vector<std::byte> spread_anew(Bytes bytes, std::size_t fragment) {
  std::vector<std::byte> message;
  while (bytes.size() >= 5) {
    const std::size_t size =
        std::to_integer<std::size_t>(bytes[3]) << 8U | std::to_integer<std::size_t>(bytes[4]);
    message.insert(message.end(), bytes.begin() + 5,
                   bytes.begin() + 5 + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(5 + size);
  }
  std::vector<std::byte> all;
  for (Bytes rest = message; !rest.empty();) {
    const Bytes part = rest.first(std::min(fragment, rest.size()));
    rest = rest.subspan(part.size());
    for (const std::size_t each :
         {std::size_t{22}, std::size_t{3}, std::size_t{1}, part.size() >> 8U, part.size() & 0xFFU})
      all.push_back(static_cast<std::byte>(each));
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::optional<std::string> name_in(const egress::OpensslHello& seen) {
  if (!seen.name_extension) return std::nullopt;
  std::string name =
      seen.name_extension->substr(std::min<std::size_t>(5, seen.name_extension->size()));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return name;
}

void check_hello(const ClientHello& hello, Bytes bytes) {
  if (hello.server_name && !cordon::policy::is_canonical_name(*hello.server_name))
    broken("a name is canonical");
  const bool passes = hello.server_name && !judge_hello(hello, *hello.server_name);
  if (passes == (!hello.server_name || hello.encrypted))
    broken("a hello passes for its own name unless it hides another");
  if (!judge_hello(hello, "other.name.test") && hello.server_name != "other.name.test")
    broken("a hello passes for no other name");
  for (const std::size_t fragment : {std::size_t{1}, std::size_t{7}, std::size_t{300}}) {
    const auto again = spread_anew(bytes, fragment);
    if (again.size() > HelloPeeker::kMostBytes) continue;
    if (peek(again, 1, 10000).verdict != Verdict{hello})
      broken("a hello is read alike however it is spread over records");
  }
  if (const auto seen = egress::read_by_openssl(bytes)) {
    if (name_in(*seen) != hello.server_name) broken("OpenSSL sees the same name");
    if (seen->encrypted && !hello.encrypted) broken("what OpenSSL takes for ECH we do");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const Peeked slow = peek(bytes, 0, 1);
  const Peeked whole = peek(bytes, 0, 100000);
  if (whole.verdict != slow.verdict) broken("bytes are judged alike however they arrive");
  for (std::uint32_t seed = 1; seed < 4; ++seed) {
    if (peek(bytes, seed, 100).verdict != slow.verdict)
      broken("bytes are judged alike however they arrive");
  }
  if (needs_more(slow.verdict)) {
    if (egress::read_by_openssl(bytes)) broken("where we want more, OpenSSL has no hello either");
    if (size >= HelloPeeker::kMostBytes + 5) broken("a verdict comes within its bound");
  } else if (const auto* const hello = std::get_if<ClientHello>(&slow.verdict)) {
    check_hello(*hello, bytes.first(slow.at_most));
  } else if (std::get<HelloRefusal>(slow.verdict).why.empty()) {
    broken("a refusal says why");
  }
  return 0;
}
