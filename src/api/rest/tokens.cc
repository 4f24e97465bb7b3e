// SPDX-License-Identifier: Apache-2.0
// Tokens: taken back. Who shows a token may take it back within its tenant; who only knows an id
// must be an operator, or it must be the id of what it asks with.
#include "api/rest/rest.h"
#include "wire/requests.h"

namespace cordon::api {
namespace {

// Where nobody says how long tokens of that kind live: an operator's may live for ever.
constexpr std::chrono::days kForever{36'500};

bool is_unbound_operator(const token::Authority& authority) {
  return authority.is_operator() && !authority.tenant();
}

// Of a token that was shown: in its own tenant's account, and no longer than it lives.
journal::Revocation revocation_of(const token::Authority& shown, WallTime now) {
  const auto expires = shown.expires();
  return {.id = shown.revocations().back(),
          .until = expires ? WallTime{*expires} : now + kForever,
          .tenant = shown.tenant().value_or("")};
}

// By its id alone nobody knows whose it is.
Result<journal::Revocation> by_id(const Call& call, const std::string& text, WallTime now) {
  TRY(const node::RevocationId id, token::revocation_id_from(text));
  const auto& own = call.authority.revocations();
  if (!own.empty() && own.back() == id) return revocation_of(call.authority, now);
  if (!is_unbound_operator(call.authority)) {
    return Error{Errc::denied,
                 "by its id only an operator of the node takes a token back; send the token "
                 "itself in the body"};
  }
  TRY(const auto seconds, number_of(call, "seconds"));
  const auto most = std::chrono::duration_cast<std::chrono::seconds>(kForever);
  const auto life = seconds ? std::min<std::uint64_t>(*seconds, most.count()) : most.count();
  return journal::Revocation{.id = id, .until = now + std::chrono::seconds{life}};
}

}  // namespace

Result<journal::Revocation> Rest::shown_for_revocation(const Call& call,
                                                       const std::string& text) const {
  const WallTime now = parts_.clock.wall();
  TRY(const token::Authority shown, parts_.gate.examine(text));
  const std::string tenant = shown.tenant().value_or(std::string{});
  const token::Query query{.operation = token::Operation::token_revoke, .tenant = tenant};
  const auto& own = call.authority.revocations();
  const bool is_own = !own.empty() && own.back() == shown.revocations().back();
  const token::Answer answer =
      call.authority.may(query, std::chrono::floor<std::chrono::seconds>(now));
  if (!answer && !is_own) return Error{Errc::denied, answer.words};
  journal::Revocation revocation = revocation_of(shown, now);
  // An operator is not stopped by what a tenant has used up.
  if (is_unbound_operator(call.authority)) revocation.tenant.clear();
  return revocation;
}

async::Task<void> Rest::revoke_token(Call& call) {
  CO_TRY_DO(only_known(call, {"id", "seconds"}));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  policy::Problems problems{"request"};
  CO_TRY(const wire::RevokeRequest request,
         wire::read_revoke_request(body.empty() ? "{}" : body, problems));
  const WallTime now = parts_.clock.wall();
  const auto id = call.query.find("id");
  if (request.token && id != call.query.end()) {
    co_return Error{Errc::invalid, "name the token, or its id, and not both"};
  }
  Result<journal::Revocation> revocation{
      Error{Errc::invalid, "name what is taken back: you ask without a token"}};
  if (request.token) {
    revocation = shown_for_revocation(call, *request.token);
  } else if (id != call.query.end()) {
    revocation = by_id(call, id->second, now);
  } else if (!call.key.empty()) {
    revocation = Error{Errc::invalid, "an API key is deleted: DELETE /v1/keys/" + call.key};
  } else if (!call.authority.revocations().empty()) {
    revocation = revocation_of(call.authority, now);
  }
  if (!revocation) co_return std::move(revocation).error();
  CO_TRY_DO(co_await parts_.revocations.revoke(*std::move(revocation), now));
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
