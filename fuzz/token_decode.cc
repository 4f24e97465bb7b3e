// SPDX-License-Identifier: Apache-2.0
// Any bytes as a token: they are refused, or they are exactly what the codec writes, and nobody's
// key made them. Any bytes as caveats behind a true token (whoever holds one can add them): they
// are refused, or they only take away.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "promise.h"
#include "token/layout.h"
#include "token/token.h"
#include "token/verify.h"

namespace {

using cordon::fuzz::broken;

namespace token = cordon::token;

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1'800'000'000}};

const std::array<token::AudienceKey, 1>& keys() {
  static const std::array<token::AudienceKey, 1> kKeys{[] {
    cordon::Digest bytes{};
    bytes.fill(std::byte{0x42});
    return *token::RootKey{token::Secret{bytes}}.derive("node-a");
  }()};
  return kKeys;
}

token::Verifier verifier() { return {.keys = keys(), .now = kNow, .is_revoked = {}}; }

void as_text(std::string_view text) {
  if (token::verify(text, verifier())) broken("nobody makes a token without the key");
  const auto bytes = token::token_bytes(text);
  if (!bytes) return;
  const auto layout = token::read_layout(*bytes);
  if (!layout) {
    if (token::read(text)) broken("what has no shape is not read");
    return;
  }
  const auto written =
      token::write_token(layout->header_bytes, layout->caveats(), token::Secret{layout->tag});
  if (!written || *written != text) broken("a token has one spelling");
  if (token::write_header(layout->header) !=
      std::vector<std::byte>(layout->header_bytes.begin(), layout->header_bytes.end())) {
    broken("a header has one spelling");
  }
}

// The caveats have one spelling too; a ceiling that is no policy cannot be written.
void as_caveat(token::Bytes bytes) {
  const auto caveat = token::decode_caveat(bytes);
  if (!caveat) return;
  const auto written = token::encode(*caveat);
  if (!written) {
    if (!std::holds_alternative<token::PolicyCeiling>(*caveat)) broken("what was read is written");
  } else if (!std::ranges::equal(*written, bytes)) {
    broken("a caveat has one spelling");
  }
}

constexpr std::string_view kPaths[] = {"/", "/a", "/a/b", "/ab", "/etc/shadow"};

// What was asked of `wide` and refused is refused by `narrow`.
void compare(const token::Authority& narrow, const token::Authority& wide) {
  for (const token::OperationRow& row : token::all_operations()) {
    for (const std::string_view tenant : {"acme", "b", ""}) {
      for (const std::string_view path : kPaths) {
        const token::Query query{
            .operation = row.operation, .tenant = tenant, .sandbox = "aaaa", .path = path};
        const auto answer = narrow.may(query, kNow);
        if (answer && !wide.may(query, kNow)) broken("a caveat only takes away");
        if (!answer && answer.words.empty()) broken("every refusal says what to ask for");
      }
    }
  }
}

struct Given {
  std::string text;
  token::Authority authority;
};
Given given(bool is_operator) {
  std::vector<token::Caveat> caveats;
  if (!is_operator) {
    caveats = {token::TenantIs{"acme"}, token::ExpiresAt{kNow + std::chrono::hours{1}}};
  }
  constexpr std::array<std::byte, token::kIdSize> kId{};
  std::string text = *token::mint(keys()[0], kId, {.is_operator = is_operator, .caveats = caveats});
  auto authority = token::verify(text, verifier());
  return {std::move(text), *std::move(authority)};
}

// Each piece is a length of two bytes and as many bytes.
void as_more_caveats(token::Bytes bytes, const Given& base) {
  const auto raw = token::token_bytes(base.text);
  const auto layout = token::read_layout(*raw);
  std::vector<token::Bytes> caveats{layout->caveats().begin(), layout->caveats().end()};
  token::Secret tag{layout->tag};
  cordon::ByteReader from{bytes};
  while (caveats.size() < token::kMostCaveats) {
    const auto length = from.integer<std::uint16_t>();
    if (!length) break;
    const auto piece = from.take(std::min<std::size_t>(*length, from.left()));
    caveats.push_back(*piece);
    tag = token::next_tag(tag, *piece);
    as_caveat(*piece);
  }
  const auto text = token::write_token(layout->header_bytes, caveats, tag);
  if (!text) return;
  if (const auto authority = token::verify(*text, verifier())) compare(*authority, base.authority);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Given kTenants = given(false);
  static const Given kOperators = given(true);
  const auto bytes = std::as_bytes(std::span{data, size});
  as_text(cordon::as_text(bytes));
  as_text(std::string{token::kTokenPrefix} + std::string{cordon::as_text(bytes)});
  as_caveat(bytes);
  as_more_caveats(bytes, kTenants);
  as_more_caveats(bytes, kOperators);
  return 0;
}
