// SPDX-License-Identifier: Apache-2.0
#include "gate/revoking.h"

#include <algorithm>
#include <chrono>

namespace cordon::gate {
namespace {

// Where nobody says how long tokens of that kind live: an operator's may live for ever.
constexpr std::chrono::days kForever{36'500};

bool is_unbound_operator(const token::Authority& authority) {
  return authority.is_operator() && !authority.tenant();
}

// Of a token that was shown: in its own tenant's account, and no longer than it lives.
TakenBack revocation_of(const token::Authority& shown, WallTime now) {
  const auto expires = shown.expires();
  return {.id = shown.revocations().back(),
          .until = expires ? WallTime{*expires} : now + kForever,
          .tenant = shown.tenant().value_or("")};
}

// By its id alone nobody knows whose it is.
Result<TakenBack> by_id(const Revoking& revoking, const std::string& text) {
  const token::Authority& authority = revoking.asks.authority;
  TRY(const token::RevocationId id, token::revocation_id_from(text));
  const auto& own = authority.revocations();
  if (!own.empty() && own.back() == id) return revocation_of(authority, revoking.now);
  if (!is_unbound_operator(authority)) {
    return Error{Errc::denied,
                 "by its id only an operator of the node takes a token back; send the token "
                 "itself in the body"};
  }
  TRY(const auto seconds, number_of(revoking.query, "seconds"));
  const auto most = std::chrono::duration_cast<std::chrono::seconds>(kForever);
  const auto life = seconds ? std::min<std::uint64_t>(*seconds, most.count()) : most.count();
  return TakenBack{.id = id, .until = revoking.now + std::chrono::seconds{life}};
}

Result<TakenBack> shown_to_be(const Gate& gate, const Revoking& revoking, const std::string& text) {
  const token::Authority& authority = revoking.asks.authority;
  const WallTime now = revoking.now;
  TRY(const token::Authority shown, gate.examine(text));
  const std::string tenant = shown.tenant().value_or(std::string{});
  const token::Query query{.operation = token::Operation::token_revoke, .tenant = tenant};
  const auto& own = authority.revocations();
  const bool is_own = !own.empty() && own.back() == shown.revocations().back();
  const token::Answer answer = authority.may(query, std::chrono::floor<std::chrono::seconds>(now));
  if (!answer && !is_own) return Error{Errc::denied, answer.words};
  TakenBack revocation = revocation_of(shown, now);
  // An operator is not stopped by what a tenant has used up.
  if (is_unbound_operator(authority)) revocation.tenant.clear();
  return revocation;
}

}  // namespace

Result<TakenBack> taken_back(const Gate& gate, const Revoking& revoking) {
  const auto id = revoking.query.find("id");
  const bool has_id = id != revoking.query.end();
  if (revoking.token && has_id) {
    return Error{Errc::invalid, "name the token, or its id, and not both"};
  }
  if (revoking.token) return shown_to_be(gate, revoking, *revoking.token);
  if (has_id) return by_id(revoking, id->second);
  const Bearer& asks = revoking.asks;
  if (!asks.key.empty()) {
    return Error{Errc::invalid, "an API key is deleted: DELETE /v1/keys/" + asks.key};
  }
  if (!asks.authority.revocations().empty()) return revocation_of(asks.authority, revoking.now);
  return Error{Errc::invalid, "name what is taken back: you ask without a token"};
}

}  // namespace cordon::gate
