// SPDX-License-Identifier: Apache-2.0
#include "fleet/reissue.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/bytes.h"
#include "fleet/index_key.h"
#include "token/operation.h"
#include "token/token.h"

namespace cordon::fleet {
namespace {

// In place of random bytes: of the key, so that nobody else can tell, and of what was shown.
std::array<std::byte, token::kIdSize> nonce_for(const token::Secret& key, token::Bytes shown) {
  std::array<std::byte, token::kIdSize> nonce{};
  const token::Secret mac = token::hmac(key, {as_bytes("cordon reissue"), shown});
  std::ranges::copy(mac.bytes().first<token::kIdSize>(), nonce.begin());
  return nonce;
}

Result<std::string> minted(const token::AudienceKey& with, const gate::Bearer& bearer,
                           WallTime now) {
  const token::Authority& authority = bearer.authority;
  token::Minted minted{.is_operator = authority.is_operator(), .caveats = {}};
  // In their order, ends too: what stands before a budget decides whose account it is.
  for (const token::Narrowed& each : authority.caveats()) minted.caveats.push_back(each.caveat);
  // Behind all of it, where the client's own is later or there is none.
  const auto end = std::chrono::floor<std::chrono::seconds>(now) + Reissue::kLongest;
  const auto own = authority.expires();
  if (!own || *own > end) minted.caveats.emplace_back(token::ExpiresAt{end});
  const auto& chain = authority.revocations();
  const token::Bytes shown =
      chain.empty() ? as_bytes(std::string_view{bearer.key}) : token::Bytes{chain.front()};
  return token::mint(with, nonce_for(with.secret(), shown), minted);
}

gate::Bearer ourselves() { return {.authority = token::Authority{true}, .key = "gateway"}; }

}  // namespace

Result<Reissue::NodeKey*> Reissue::key_of(NodeId node) {
  const auto found = keys_.find(node);
  if (found != keys_.end()) return &found->second;
  // Names that nobody has made are asked about too: they do not fill the memory.
  if (keys_.size() >= kMostKeys) keys_.clear();
  TRY(token::AudienceKey key, root_.derive(token::audience_of_node(node.cell, node.node)));
  token::SandboxNames names{key};
  return &keys_.emplace(node, NodeKey{std::move(key), std::move(names)}).first->second;
}

Result<std::string> Reissue::for_node(const gate::Bearer& bearer, NodeId node, WallTime now) {
  TRY(NodeKey* const with, key_of(node));
  return minted(with->key, bearer, now);
}

Result<std::string> Reissue::for_index(const gate::Bearer& bearer, std::uint16_t cell,
                                       WallTime now) {
  auto found = index_keys_.find(cell);
  if (found == index_keys_.end()) {
    TRY(token::AudienceKey key, root_.derive(audience_of_index(cell)));
    found = index_keys_.emplace(cell, std::move(key)).first;
  }
  return minted(found->second, bearer, now);
}

Result<std::string> Reissue::own(NodeId node, WallTime now) {
  return for_node(ourselves(), node, now);
}

Result<std::string> Reissue::own_to_index(std::uint16_t cell, WallTime now) {
  return for_index(ourselves(), cell, now);
}

std::optional<NodeId> Reissue::node_of(const SandboxId& id) {
  const auto claimed = token::claimed_place(id);
  if (!claimed) return std::nullopt;
  const NodeId node{claimed->cell, claimed->node};
  const auto key = key_of(node);
  if (!key || !(*key)->names.read(id)) return std::nullopt;
  return node;
}

}  // namespace cordon::fleet
