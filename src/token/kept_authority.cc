// SPDX-License-Identifier: Apache-2.0
//   version u8 = 1 | operator u8
//   ids u8 count, each 16
//   caveats u8 count, each: id 16 | u16 length, bytes
#include "token/kept_authority.h"

#include <algorithm>

#include "base/bytes.h"
#include "token/layout.h"

namespace cordon::token {
namespace {

constexpr std::uint8_t kKeptVersion = 1;
// Of a chain of keys that were made with keys: more than a caveat each.
constexpr std::size_t kMostIds = 2 * kMostCaveats;

void put(ByteWriter& to, Bytes bytes) {
  for (const std::byte byte : bytes) to.integer(std::to_integer<std::uint8_t>(byte));
}

Result<RevocationId> read_id(ByteReader& from) {
  RevocationId id{};
  TRY(const Bytes bytes, from.take(id.size()));
  std::ranges::copy(bytes, id.begin());
  return id;
}

Error broken() { return Error{Errc::invalid, "what a key may do cannot be read"}; }

}  // namespace

Result<std::vector<std::byte>> write_kept(const Authority& authority) {
  if (authority.caveats().size() > kMostCaveats || authority.revocations().size() > kMostIds) {
    return Error{Errc::exhausted, "a key has at most 32 caveats, with those of what made it"};
  }
  ByteWriter to;
  to.integer(kKeptVersion);
  to.integer(static_cast<std::uint8_t>(authority.is_operator() ? 1 : 0));
  to.integer(static_cast<std::uint8_t>(authority.revocations().size()));
  for (const RevocationId& id : authority.revocations()) put(to, id);
  to.integer(static_cast<std::uint8_t>(authority.caveats().size()));
  for (const Narrowed& each : authority.caveats()) {
    TRY(const auto bytes, encode(each.caveat));
    put(to, each.id);
    to.integer(static_cast<std::uint16_t>(bytes.size()));
    put(to, bytes);
  }
  return std::move(to).take();
}

Result<Authority> read_kept(Bytes bytes) {
  ByteReader from{bytes};
  TRY(const auto version, from.integer<std::uint8_t>());
  TRY(const auto kind, from.integer<std::uint8_t>());
  if (version != kKeptVersion || kind > 1) return broken();
  Authority authority{kind == 1};
  TRY(const auto ids, from.integer<std::uint8_t>());
  for (unsigned i = 0; i < ids; ++i) {
    TRY(const RevocationId id, read_id(from));
    authority.add_revocation(id);
  }
  TRY(const auto caveats, from.integer<std::uint8_t>());
  if (ids > kMostIds || caveats > kMostCaveats) return broken();
  for (unsigned i = 0; i < caveats; ++i) {
    TRY(const RevocationId id, read_id(from));
    TRY(const auto length, from.integer<std::uint16_t>());
    TRY(const Bytes encoded, from.take(length));
    TRY(const Caveat caveat, decode_caveat(encoded));
    authority.narrow(caveat, id);
  }
  TRY_DO(from.finish());
  if (authority.is_for_nobody()) return broken();
  return authority;
}

}  // namespace cordon::token
