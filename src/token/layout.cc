// SPDX-License-Identifier: Apache-2.0
#include "token/layout.h"

#include <cassert>
#include <limits>

#include "base/bytes.h"
#include "token/base64url.h"
#include "token/key.h"

namespace cordon::token {
namespace {

constexpr std::uint8_t kTokenVersion = 1;
constexpr std::uint8_t kOperator = 1;  // the only flag

Error malformed(std::string_view why) { return Error{Errc::invalid, std::string{why}}; }

Result<Header> read_header(ByteReader& from) {
  TRY(const auto version, from.integer<std::uint8_t>());
  if (version != kTokenVersion) return malformed("a version of tokens that is not known");
  TRY(const auto flags, from.integer<std::uint8_t>());
  if ((flags & ~kOperator) != 0) return malformed("a flag that is not known");
  TRY(const auto number, from.integer<std::uint8_t>());
  TRY(const auto length, from.integer<std::uint8_t>());
  TRY(const Bytes audience, from.take(length));
  if (!is_name(as_text(audience), kLongestAudience)) return malformed("an audience is a name");
  TRY(const Bytes id, from.take(kIdSize));
  return Header{.is_operator = flags == kOperator,
                .key_number = number,
                .audience = as_text(audience),
                .id = id.first<kIdSize>()};
}

// Wiped in the end: the tag is among them.
void append(WipedBytes& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

}  // namespace

Result<WipedBytes> token_bytes(std::string_view text) {
  if (text.size() > kLongestToken) return malformed("longer than a token can be");
  if (!text.starts_with(kTokenPrefix)) return malformed("it does not begin with cdn1_");
  return from_base64url(text.substr(kTokenPrefix.size()));
}

Result<Layout> read_layout(Bytes bytes) {
  ByteReader from{bytes};
  TRY(const Header header, read_header(from));
  const Bytes header_bytes = bytes.first(bytes.size() - from.left());
  TRY(const auto count, from.integer<std::uint8_t>());
  if (count > kMostCaveats) return malformed("more caveats than a token can have");
  std::array<Bytes, kMostCaveats> slots{};
  for (Bytes& slot : std::span{slots}.first(count)) {
    TRY(const auto length, from.integer<std::uint16_t>());
    TRY(slot, from.take(length));
  }
  TRY(const Bytes tag, from.take(kDigestSize));
  TRY_DO(from.finish());
  return Layout{.header_bytes = header_bytes,
                .header = header,
                .slots = slots,
                .count = count,
                .tag = tag.first<kDigestSize>()};
}

std::vector<std::byte> write_header(const Header& header) {
  assert(is_name(header.audience, kLongestAudience));
  ByteWriter to;
  to.integer(kTokenVersion);
  to.integer(header.is_operator ? kOperator : std::uint8_t{0});
  to.integer(header.key_number);
  to.integer(static_cast<std::uint8_t>(header.audience.size()));
  for (const char c : header.audience) to.integer(static_cast<std::uint8_t>(c));
  for (const std::byte byte : header.id) to.integer(std::to_integer<std::uint8_t>(byte));
  return std::move(to).take();
}

Result<std::string> write_token(Bytes header, std::span<const Bytes> caveats, const Secret& tag) {
  assert(caveats.size() <= kMostCaveats);
  WipedBytes bytes;
  append(bytes, header);
  bytes.push_back(static_cast<std::byte>(caveats.size()));
  for (const Bytes caveat : caveats) {
    assert(caveat.size() <= std::numeric_limits<std::uint16_t>::max());
    const auto length = static_cast<std::uint16_t>(caveat.size());
    append(bytes, std::as_bytes(std::span{&length, 1}));
    append(bytes, caveat);
  }
  append(bytes, tag.bytes());
  std::string text = std::string{kTokenPrefix} + to_base64url(bytes);
  if (text.size() > kLongestToken) {
    return Error{Errc::exhausted, "the token would be longer than 8 KiB: leave caveats out"};
  }
  return text;
}

}  // namespace cordon::token
