// SPDX-License-Identifier: Apache-2.0
// Tokens: taken back.
#include "api/rest/rest.h"
#include "gate/revoking.h"
#include "wire/requests.h"

namespace cordon::api {

async::Task<void> Rest::revoke_token(Call& call) {
  CO_TRY_DO(only_known(call, {"id", "seconds"}));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  policy::Problems problems{"request"};
  CO_TRY(const wire::RevokeRequest request,
         wire::read_revoke_request(body.empty() ? "{}" : body, problems));
  const WallTime now = parts_.clock.wall();
  const gate::Bearer asks{call.authority, call.key};
  CO_TRY(gate::TakenBack taken,
         gate::taken_back(parts_.gate,
                          {.asks = asks, .token = request.token, .query = call.query, .now = now}));
  CO_TRY_DO(co_await parts_.revocations.revoke(
      {.id = taken.id, .until = taken.until, .tenant = std::move(taken.tenant)}, now));
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
