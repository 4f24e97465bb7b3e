// SPDX-License-Identifier: Apache-2.0
#include "token/verify.h"

#include <expected>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "token/layout.h"

namespace cordon::token {
namespace {

// One for the header, and one for each caveat that there could be.
constexpr unsigned kMacs = kMostCaveats + 1;

// What stands in for a token that has no shape: its bytes as one caveat, under a tag of zeros.
constexpr Digest kZeros{};
Layout stand_in(Bytes bytes) {
  Layout layout{.header_bytes = Bytes{kZeros},
                .header = {.id = std::span{kZeros}.first<kIdSize>()},
                .slots = {},
                .count = 1,
                .tag = kZeros};
  layout.slots[0] = bytes;
  return layout;
}

// The key of this audience and number; else why there is none. Looks at all of them.
struct Found {
  const AudienceKey* key = nullptr;
  Fault fault = Fault::audience;
};
Found find_key(std::span<const AudienceKey> keys, const Header& header) {
  Found found;
  for (const AudienceKey& key : keys) {
    if (key.audience() != header.audience) continue;
    found.fault = Fault::key;
    if (key.number() == header.key_number) found.key = &key;
  }
  return found;
}

struct Chain {
  bool is_right = false;
  std::vector<RevocationId> ids;  // of each prefix, where the tag is right
  unsigned macs = 0;
};

// `key` null: nobody's. The way is the same, and right under no key, not even one that is known.
Chain follow(const Layout& layout, const AudienceKey* key) {
  const Secret nobody{kZeros};
  std::vector<Secret> tags;
  tags.reserve(kMacs);
  tags.push_back(first_tag(key != nullptr ? key->secret() : nobody, layout.header_bytes));
  for (const Bytes caveat : layout.caveats()) tags.push_back(next_tag(tags.back(), caveat));
  Chain chain{.is_right = same_bytes(tags.back().bytes(), layout.tag) && key != nullptr};
  if (chain.is_right) {
    for (const Secret& tag : tags) chain.ids.push_back(revocation_id(tag.bytes()));
  } else {
    while (tags.size() < kMacs) tags.push_back(next_tag(tags.back(), {}));
  }
  chain.macs = static_cast<unsigned>(tags.size());
  return chain;
}

bool any_revoked(const std::vector<RevocationId>& ids, const IsRevoked& is_revoked) {
  if (!is_revoked) return false;
  bool any = false;
  for (const RevocationId& id : ids) any = is_revoked(id) || any;
  return any;
}

std::expected<Authority, Fault> authority_of(const Layout& layout,
                                             const std::vector<RevocationId>& ids,
                                             std::chrono::sys_seconds now) {
  Authority authority{layout.header.is_operator};
  authority.add_revocation(ids.front());
  for (std::size_t i = 0; i < layout.count; ++i) {
    const auto caveat = decode_caveat(layout.slots[i]);
    if (!caveat) return std::unexpected{Fault::caveat};
    authority.narrow(*caveat, ids[i + 1]);
    authority.add_revocation(ids[i + 1]);
  }
  if (authority.is_expired(now)) return std::unexpected{Fault::expired};
  if (authority.is_for_nobody()) return std::unexpected{Fault::nobody};
  return authority;
}

std::expected<Authority, Refused> try_verify(std::string_view text, const Verifier& verifier) {
  const auto bytes = token_bytes(text);
  const auto read = bytes ? read_layout(*bytes) : Result<Layout>{bytes.error()};
  const Layout layout = read ? *read : stand_in(as_bytes(text.substr(0, kLongestToken)));
  const Found found = read ? find_key(verifier.keys, layout.header) : Found{};
  const Chain chain = follow(layout, found.key);
  const auto refuse = [&](Fault fault) {
    return std::unexpected{Refused{.fault = fault, .macs = chain.macs}};
  };
  if (!read) return refuse(Fault::malformed);
  if (found.key == nullptr) return refuse(found.fault);
  if (!chain.is_right) return refuse(Fault::tag);
  if (any_revoked(chain.ids, verifier.is_revoked)) return refuse(Fault::revoked);
  auto authority = authority_of(layout, chain.ids, verifier.now);
  if (!authority) return refuse(authority.error());
  return *std::move(authority);
}

}  // namespace

std::string_view to_string(Fault fault) noexcept {
  switch (fault) {
    case Fault::malformed:
      return "malformed";
    case Fault::audience:
      return "made for another audience";
    case Fault::key:
      return "made under a key that is not held";
    case Fault::tag:
      return "forged or changed";
    case Fault::caveat:
      return "has a caveat that is not understood";
    case Fault::expired:
      return "expired";
    case Fault::revoked:
      return "revoked";
    case Fault::nobody:
      return "for no tenant, or for two";
  }
  return "refused";
}

Result<Authority> verify(std::string_view text, const Verifier& verifier, Refused* refused) {
  auto authority = try_verify(text, verifier);
  if (authority) return *std::move(authority);
  if (refused != nullptr) *refused = authority.error();
  return Error{Errc::denied, "unauthenticated"};
}

}  // namespace cordon::token
