// SPDX-License-Identifier: Apache-2.0
// API keys: made, listed, deleted. A key is shown in the answer that makes it, and never again.
#include "api/rest/key_request.h"
#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "base/time_text.h"
#include "token/api_key.h"

namespace cordon::api {
namespace {

void write_key(wire::JsonWriter& json, const node::ApiKey& key) {
  json.text("id", key.id);
  json.text("label", key.label);
  if (!key.tenant.empty()) json.text("tenant", key.tenant);
  json.boolean("operator", key.authority.is_operator() && !key.authority.tenant());
  json.text("created", to_text(key.created));
  if (const auto expires = key.authority.expires()) {
    json.text("expires", to_text(WallTime{*expires}));
  }
  json.key("caveats");
  write_caveats(json, key.authority.caveats());
}

}  // namespace

async::Task<void> Rest::create_key(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  const WallTime now = parts_.clock.wall();
  node::WhyNotAdmitted why;
  auto request = read_key_request(body.empty() ? "{}" : body,
                                  std::chrono::floor<std::chrono::seconds>(now), why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  const bool for_all = request->is_operator;
  if (for_all && (!call.authority.is_operator() || !call.tenant.empty())) {
    co_return Error{Errc::denied,
                    "`operator`: only an operator who acts for no tenant makes such a key"};
  }
  CO_TRY(const auto made, co_await parts_.keys.make({.tenant = for_all ? "" : owner_of(call),
                                                     .label = std::move(request->label),
                                                     .caveats = std::move(request->caveats)},
                                                    call.authority, now));
  wire::JsonWriter json;
  json.begin_object();
  json.text("key", made.text);
  json.text("e2b_key", token::e2b_key_of(made.text));
  write_key(json, *made.key);
  json.end_object();
  co_return co_await answer_json(call, 201, json.take());
}

async::Task<void> Rest::list_keys(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  wire::JsonWriter json;
  json.begin_object();
  json.key("keys");
  json.begin_array();
  for (const auto& key : parts_.keys.list(call.tenant)) {
    json.begin_object();
    write_key(json, *key);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return co_await answer_json(call, 200, json.take());
}

async::Task<void> Rest::delete_key(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const bool was_there, co_await parts_.keys.remove(call.tenant, call.places.front()));
  if (!was_there) co_return Error{Errc::not_found, "there is no such key"};
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
