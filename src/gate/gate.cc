// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <algorithm>

#include "token/api_key.h"

namespace cordon::gate {
namespace {

constexpr std::string_view kTokenField = "Authorization";
constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kApiKeyField = "X-API-Key";

Error unauthenticated() {
  return Error{Errc::denied, "no valid token: send Authorization: Bearer TOKEN"};
}

// Nothing: it cannot be read.
std::optional<std::vector<token::RevocationId>> chain_of(const http::RequestHead& head) {
  constexpr std::size_t kMostIds = 64;
  const auto said = http::only(head.fields, kChainField);
  if (!said) return std::nullopt;
  std::vector<token::RevocationId> ids;
  for (std::string_view left = *said;;) {
    const std::string_view word = left.substr(0, left.find(' '));
    const auto id = token::revocation_id_from(word);
    if (!id || ids.size() == kMostIds) return std::nullopt;
    ids.push_back(*id);
    if (word.size() == left.size()) return ids;
    left.remove_prefix(word.size() + 1);
  }
}

}  // namespace

Gate::Gate(std::vector<token::AudienceKey> keys, std::vector<std::uint32_t> operators,
           token::IsRevoked is_revoked, FindKey find_key, const Clock& clock, Chains chains)
    : keys_{std::move(keys)},
      operators_{std::move(operators)},
      is_revoked_{std::move(is_revoked)},
      find_key_{std::move(find_key)},
      clock_{clock},
      chains_{chains} {}

Result<Bearer> Gate::by_token(std::string_view text) const {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.wall());
  auto authority = token::verify(text, {keys_, now, is_revoked_});
  if (!authority) return unauthenticated();
  return Bearer{*std::move(authority)};
}

Result<Bearer> Gate::by_key(std::string_view text) const {
  if (const auto token = token::token_in_e2b_key(text)) return by_token(*token);
  auto found = find_key_(text);
  if (!found) return unauthenticated();
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.wall());
  // It falls with all that it was made with.
  const bool is_revoked = std::ranges::any_of(found->authority.revocations(), is_revoked_);
  if (is_revoked || found->authority.is_expired(now)) return unauthenticated();
  return *std::move(found);
}

Result<Bearer> Gate::admit(const http::RequestHead& head, const http::Peer& peer) const {
  TRY(Bearer bearer, admit_shown(head, peer));
  if (chains_ == Chains::ignored || http::count(head.fields, kChainField) == 0) return bearer;
  const auto chain = chain_of(head);
  if (!chain || std::ranges::any_of(*chain, is_revoked_)) return unauthenticated();
  bearer.authority.derived_from(*chain);
  return bearer;
}

Result<Bearer> Gate::admit_shown(const http::RequestHead& head, const http::Peer& peer) const {
  const std::size_t tokens = http::count(head.fields, kTokenField);
  const std::size_t keys = http::count(head.fields, kApiKeyField);
  if (tokens + keys == 0) {
    const bool is_operator =
        peer.local && std::ranges::find(operators_, peer.local->uid) != operators_.end();
    if (is_operator) return Bearer{token::Authority{true}};
    return unauthenticated();
  }
  // Two of them could mean two.
  if (tokens + keys > 1) return unauthenticated();
  if (const auto key = http::only(head.fields, kApiKeyField)) return by_key(*key);
  const auto shown = http::only(head.fields, kTokenField);
  if (!shown || !shown->starts_with(kScheme)) return unauthenticated();
  const std::string_view text = shown->substr(kScheme.size());
  if (text.starts_with(token::kApiKeyPrefix)) return by_key(text);
  return by_token(text);
}

Result<token::Authority> Gate::examine(std::string_view text) const {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.wall());
  auto authority = token::verify(text, {keys_, now, {}});
  if (authority) return authority;
  return Error{Errc::invalid, "this is no token of this node, or it has expired already"};
}

}  // namespace cordon::gate
