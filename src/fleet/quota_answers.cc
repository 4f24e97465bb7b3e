// SPDX-License-Identifier: Apache-2.0
// /v1/fleet/quotas: how many sandboxes tenants may have in the whole fleet.
#include <fmt/format.h>

#include "fleet/gateway.h"
#include "fleet/quota_setting.h"
#include "token/caveat.h"
#include "token/key.h"
#include "wire/json_writer.h"
#include "wire/requests.h"

namespace cordon::fleet {
namespace {

constexpr std::string_view kFleetQuotas = "/v1/fleet/quotas/";

Result<std::string> tenant_in(const Asked& asked) {
  const std::string_view path = asked.exchange.head().target.path;
  const std::string_view name = path.substr(kFleetQuotas.size());
  if (token::is_name(name, token::kLongestTenant)) return std::string{name};
  return Error{Errc::invalid, "a tenant is named with a-z, 0-9 and hyphens"};
}

void write_quota(wire::JsonWriter& json, const std::string& tenant, const QuotaLedger& ledger) {
  json.begin_object();
  json.text("tenant", tenant);
  json.number("total", ledger.total);
  json.key("homes");
  json.begin_array();
  for (const Cell cell : ledger.homes) json.text(std::to_string(cell));
  json.end_array();
  json.key("held");
  json.begin_object();
  std::set<Cell> cells = ledger.homes;
  for (const auto& [cell, amount] : ledger.lent) cells.insert(cell);
  for (const Cell cell : cells) json.number(std::to_string(cell), ledger.held_by(cell));
  json.end_object();
  json.number("free", ledger.pool());
  json.end_object();
}

std::string quota_text(const std::string& tenant, const QuotaLedger& ledger) {
  wire::JsonWriter json;
  write_quota(json, tenant, ledger);
  return json.take();
}

}  // namespace

async::Task<void> Gateway::quotas(Asked& asked) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("quotas");
  json.begin_array();
  for (const auto& [tenant, ledger] : parts_.purses.ledgers()) write_quota(json, tenant, ledger);
  json.end_array();
  json.end_object();
  co_return co_await answer_json(asked, 200, json.take());
}

async::Task<void> Gateway::quota(Asked& asked) {
  CO_TRY(const std::string tenant, tenant_in(asked));
  const QuotaLedger* const ledger = parts_.purses.ledger(tenant);
  if (ledger == nullptr) {
    co_return Error{Errc::not_found, fmt::format("{} has no quota of the fleet", tenant)};
  }
  co_return co_await answer_json(asked, 200, quota_text(tenant, *ledger));
}

async::Task<void> Gateway::set_quota(Asked& asked) {
  CO_TRY(const std::string tenant, tenant_in(asked));
  CO_TRY(const std::string body, co_await asked.exchange.read_body(wire::kLargestRequest));
  CO_TRY(QuotaOrder order, read_quota_order(body));
  CO_TRY(const QuotaLedger ledger, co_await fleet::set_quota(parts_.all, tenant, std::move(order)));
  // Here from now on; other gateways hear of it.
  parts_.purses.know(tenant, ledger);
  co_return co_await answer_json(asked, 200, quota_text(tenant, ledger));
}

async::Task<void> Gateway::remove_quota(Asked& asked) {
  CO_TRY(const std::string tenant, tenant_in(asked));
  CO_TRY_DO(co_await fleet::remove_quota(parts_.all, tenant));
  co_return co_await asked.exchange.answer(204, {}, {});
}

}  // namespace cordon::fleet
