// SPDX-License-Identifier: Apache-2.0
#include "api/rest/rest.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "api/rest/rights.h"
#include "api/rest/whereabouts.h"
#include "async/unless.h"
#include "async/waiting.h"
#include "base/log.h"
#include "gate/origin.h"
#include "token/key.h"

namespace cordon::api {
namespace {

constexpr std::string_view kTenantField = "Cordon-Tenant";
constexpr std::size_t kLongestTenant = 64;
constexpr std::chrono::seconds kLongestLook{60};

wire::ProblemAnswer no_route(const Match& found) {
  if (found.allowed.empty()) {
    return {.status = 404,
            .code = "CORDON-API-NO-ROUTE",
            .detail = "there is nothing at this path",
            .remedy = "see api/openapi.yaml for the paths of API v1"};
  }
  return {.status = 405,
          .code = "CORDON-API-NO-METHOD",
          .detail = "this path does not have this method",
          .remedy = "use one of: " + found.allowed};
}

wire::ProblemAnswer unauthenticated(const Error& error) {
  return {.status = 401,
          .code = "CORDON-API-UNAUTHENTICATED",
          .detail = error.text(),
          .remedy = "mint one with `cordon token mint`, or ask the operator of this node"};
}

}  // namespace

Result<std::string> Rest::tenant_of(const http::RequestHead& head,
                                    const token::Authority& authority) const {
  const std::size_t named = http::count(head.fields, kTenantField);
  if (named == 0) return authority.tenant().value_or(std::string{});
  const auto name = http::only(head.fields, kTenantField);
  if (!name || !token::is_name(*name, kLongestTenant)) {
    return Error{Errc::invalid, fmt::format("{}: one name of a-z, 0-9 and hyphens", kTenantField)};
  }
  if (authority.tenant().value_or(std::string{*name}) != *name) {
    return Error{Errc::denied, fmt::format("{}: the token is of another tenant", kTenantField)};
  }
  return std::string{*name};
}

async::Task<void> Rest::serve(Call& call, const Route& route) {
  if (!route.is_proxy) {
    CO_TRY(call.query, read_query(call.exchange.head().target.query.value_or(std::string{})));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  CO_TRY_DO(authorise(call.authority, {route, call.places, call.query, call.tenant}, now));
  CO_TRY_DO(gate::check_origin(call.exchange.head(), parts_.settings.origins));
  CO_TRY_DO(record_.begun(call));
  if (route.lasts && !call.authority.revocations().empty()) {
    co_return co_await serve_while_valid(call, route);
  }
  co_return co_await (this->*route.handler)(call);
}

asio::awaitable<void> Rest::until_invalid(const Call& call) {
  using asio::experimental::awaitable_operators::operator||;
  if (call.key.empty()) {
    co_await (parts_.revocations.until_any(call.authority.revocations()) || until_expired(call));
  } else {
    co_await (parts_.revocations.until_any(call.authority.revocations()) || until_expired(call) ||
              parts_.keys.until_gone(call.key));
  }
}

// A second is the measure of expiry; and the clock of the wall may be set meanwhile.
asio::awaitable<void> Rest::until_expired(const Call& call) {
  asio::steady_timer look{co_await asio::this_coro::executor};
  while (!is_expired(call)) {
    using std::chrono::milliseconds;
    const auto expires = call.authority.expires();
    const auto left = expires ? std::chrono::ceil<milliseconds>(*expires - parts_.clock.wall())
                              : milliseconds{kLongestLook};
    look.expires_after(std::clamp(left, milliseconds{1}, milliseconds{kLongestLook}));
    co_await look.async_wait(async::kQuiet);
  }
}

bool Rest::is_expired(const Call& call) const {
  return call.authority.is_expired(std::chrono::floor<std::chrono::seconds>(parts_.clock.wall()));
}

bool Rest::is_invalid(const Call& call) const {
  if (!call.key.empty() && !parts_.keys.has(call.key)) return true;
  return is_expired(call) || parts_.revocations.has_any(call.authority.revocations());
}

async::Task<void> Rest::serve_while_valid(Call& call, const Route& route) {
  auto served = co_await async::unless(
      until_invalid(call), [this, &call] { return is_invalid(call); }, (this->*route.handler)(call),
      Error{Errc::denied, "the token was revoked, or has expired"});
  // A stream that a right ends with is cut by no failure of ours.
  if (!served && is_invalid(call)) call.exchange.break_off();
  co_return served;
}

async::Task<void> Rest::handle(http::Exchange& exchange) {
  ++requests_;
  const http::RequestHead& head = exchange.head();
  Match found = match(head.method, head.target.path);
  Call call{.exchange = exchange,
            .places = std::move(found.places),
            .query = {},
            .authority = token::Authority{false},
            .key = {},
            .tenant = {},
            .id = parts_.new_request_id(),
            .route = found.route,
            .record = &record_};
  if (found.route == nullptr) co_return co_await answer_problem(call, no_route(found));
  if (found.route->operation) {
    auto bearer = parts_.gate.admit(head, exchange.peer());
    if (!bearer) co_return co_await answer_problem(call, unauthenticated(bearer.error()));
    call.authority = std::move(bearer->authority);
    call.key = std::move(bearer->key);
    auto tenant = tenant_of(head, call.authority);
    if (!tenant) co_return co_await answer_problem(call, wire::problem_of(tenant.error()));
    call.tenant = *std::move(tenant);
  }
  std::optional<node::Quotas::Request> counted;
  if (!call.tenant.empty()) {
    auto begun = parts_.quotas.begin_request(call.tenant);
    if (!begun) co_return co_await answer_problem(call, wire::problem_of(begun.error()));
    counted.emplace(*std::move(begun));
  }
  const auto served = co_await serve(call, *found.route);
  if (served) co_return Status{};
  const std::string_view pattern = found.route->pattern;
  const bool is_about_one =
      pattern.starts_with("/v1/sandboxes/{id}") || pattern == "/v1/node/departures";
  const bool is_none =
      is_about_one && !call.places.empty() && served.error().code() == Errc::not_found;
  if (const auto id = SandboxId::parse(is_none ? call.places.front() : std::string{});
      id && !exchange.is_answered()) {
    CO_TRY(const auto elsewhere, co_await whereabouts_of(parts_.residents, *id, call.tenant));
    if (elsewhere) co_return co_await answer_problem(call, *elsewhere);
  }
  log(LogLevel::info, "api", "a request was refused",
      {{"request", call.id}, {"route", found.route->pattern}, {"why", served.error().text()}});
  // A body that could not be read is answered by the server, which knows how.
  if (exchange.is_answered() || exchange.has_faulty_body()) co_return served.error();
  co_return co_await answer_problem(call, wire::problem_of(served.error()));
}

Result<std::shared_ptr<node::Resident>> Rest::living(const Call& call) const {
  const Error none{Errc::not_found, "there is no such sandbox"};
  const auto id = SandboxId::parse(call.places.front());
  if (!id || !parts_.residents.knows(*id)) return none;
  auto resident = parts_.residents.find(*id);
  if (!resident) return none;
  if (!call.tenant.empty() && resident->facts().tenant != call.tenant) return none;
  return resident;
}

async::Task<std::optional<node::EndedSandbox>> Rest::ended_sandbox(const Call& call) const {
  const auto id = SandboxId::parse(call.places.front());
  // Whoever makes an id up asks the journal nothing.
  if (!id || !parts_.residents.knows(*id)) co_return std::optional<node::EndedSandbox>{};
  CO_TRY(auto ended, co_await parts_.residents.find_ended(*id));
  const bool is_ours = ended && (call.tenant.empty() || ended->facts.tenant == call.tenant);
  if (!is_ours) co_return std::optional<node::EndedSandbox>{};
  co_return ended;
}

Result<std::shared_ptr<node::ResidentProcess>> Rest::process(const node::Resident& resident,
                                                             const Call& call) const {
  const std::string& text = call.places.at(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return Error{Errc::invalid, "a process is named by its number"};
  }
  auto found = resident.process(number);
  if (!found) {
    return Error{Errc::not_found, fmt::format("the sandbox has no process {}", number)};
  }
  return found;
}

}  // namespace cordon::api
