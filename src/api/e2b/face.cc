// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/face.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/rest/rights.h"
#include "api/rest/whereabouts.h"
#include "base/log.h"
#include "gate/origin.h"

namespace cordon::api::e2b {
namespace {

using token::Operation;

// The words of API v1 for its right and its record, and what serves it here.
struct ControlRoute {
  Route route;
  async::Task<void> (Face::*handler)(Call&);
};

constexpr ControlRoute row(std::string_view method, std::string_view pattern, Operation operation,
                           async::Task<void> (Face::*handler)(Call&)) {
  return {Route{method, pattern, operation}, handler};
}

constexpr std::array kRoutes = {
    row("POST", "/v2/sandboxes", Operation::sandbox_create, &Face::create),
    row("POST", "/sandboxes", Operation::sandbox_create, &Face::create),
    row("GET", "/v2/sandboxes", Operation::sandbox_read, &Face::list),
    row("GET", "/sandboxes", Operation::sandbox_read, &Face::list),
    row("GET", "/sandboxes/{id}", Operation::sandbox_read, &Face::info),
    row("DELETE", "/sandboxes/{id}", Operation::sandbox_destroy, &Face::kill),
    row("POST", "/v2/sandboxes/{id}/connect", Operation::sandbox_change, &Face::connect),
    row("POST", "/sandboxes/{id}/connect", Operation::sandbox_change, &Face::connect),
    row("POST", "/sandboxes/{id}/timeout", Operation::sandbox_change, &Face::set_timeout),
    row("POST", "/sandboxes/{id}/refreshes", Operation::sandbox_change, &Face::refresh),
    row("PUT", "/sandboxes/{id}/network", Operation::sandbox_change, &Face::change_network),
    row("POST", "/sandboxes/{id}/pause", Operation::sandbox_change, &Face::pause),
    row("GET", "/sandboxes/{id}/metrics", Operation::sandbox_read, &Face::metrics),
    row("GET", "/templates", Operation::sandbox_read, &Face::list_templates),
    row("GET", "/templates/aliases/{alias}", Operation::sandbox_read, &Face::find_alias),
    row("POST", "/v3/templates", Operation::sandbox_create, &Face::ask_template),
    row("GET", "/templates/{template}/files/{files}", Operation::sandbox_create,
        &Face::where_to_send),
    row("POST", "/v2/templates/{template}/builds/{build}", Operation::sandbox_create,
        &Face::begin_build),
    row("GET", "/templates/{template}/builds/{build}/status", Operation::sandbox_read,
        &Face::build_status),
    row("POST", "/templates/tags", Operation::sandbox_create, &Face::add_tags),
    row("DELETE", "/templates/tags", Operation::sandbox_destroy, &Face::remove_tags),
    row("GET", "/templates/{template}/tags", Operation::sandbox_read, &Face::list_tags),
    row("DELETE", "/templates/{template}", Operation::sandbox_destroy, &Face::remove_template),
};

// Clients write a colon, which names of templates have before their tag, as its number.
std::string with_colons(std::string path) {
  constexpr std::string_view kWritten = "%3A";
  for (std::size_t at = path.find(kWritten); at != std::string::npos; at = path.find(kWritten)) {
    path.replace(at, kWritten.size(), ":");
  }
  return path;
}

// Files of a copy, sent to the address that was told for them.
constexpr Route kSentFiles{"PUT", "/templates/{template}/files/{files}", Operation::sandbox_create};

}  // namespace

std::string words_of(const wire::ProblemAnswer& problem) {
  std::string words = problem.detail;
  for (const policy::Problem& each : problem.problems) words += "; " + to_string(each);
  for (const Denial& each : problem.denials) {
    words += fmt::format("; {}: {} ({})", each.tried, each.why, each.fix);
  }
  if (!problem.remedy.empty()) words += "; " + problem.remedy;
  return words;
}

async::Task<void> answer_error(Call& call, const wire::ProblemAnswer& problem) {
  if (call.record != nullptr) call.record->refused(call, problem);
  // Clients take 422 for a fault of ours.
  const int status = problem.status == 422 ? 400 : problem.status;
  http::Fields fields = stream_fields(call, "application/json");
  if (status == 429) fields.push_back({"Retry-After", "1"});
  if (!problem.no_room.empty()) {
    fields.push_back({std::string{node::kNoRoomField}, problem.no_room});
  }
  if (!problem.moved.empty()) {
    fields.push_back({std::string{wire::kMovedField}, problem.moved});
  }
  return call.exchange.answer(status, std::move(fields), error_json(status, words_of(problem)));
}

async::Task<void> answer_error(Call& call, const Error& error) {
  return answer_error(call, wire::problem_of(error));
}

async::Task<void> end_with(Call& call, ConnectError error) {
  CO_TRY_DO(co_await call.exchange.write(end_envelope(error)));
  co_return co_await call.exchange.finish();
}

async::Task<void> Face::handle(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  Call call{.exchange = exchange,
            .places = {},
            .query = {},
            .authority = token::Authority{false},
            .key = {},
            .tenant = {},
            .id = parts_.new_request_id(),
            .route = nullptr,
            .record = &record_};
  Status served;
  if (const auto named = gate::named_sandbox(head)) {
    served = co_await serve_inside(call, named->sandbox, named->port);
  } else if (head.target.path == gate::kSignedPath) {
    served = co_await serve_signed(call);
  } else {
    served = co_await serve_control(call);
  }
  if (served) co_return Status{};
  log(LogLevel::info, "e2b", "a request was refused",
      {{"request", call.id}, {"why", served.error().text()}});
  if (exchange.is_answered() || exchange.has_faulty_body()) co_return served.error();
  const auto id = call.places.empty() ? Result<SandboxId>{Error{Errc::not_found, "none"}}
                                      : SandboxId::parse(call.places.front());
  if (served.error().code() == Errc::not_found && id) {
    CO_TRY(const auto elsewhere, co_await whereabouts_of(parts_.residents, *id, call.tenant));
    if (elsewhere) co_return co_await answer_error(call, *elsewhere);
  }
  co_return co_await answer_error(call, served.error());
}

async::Task<void> Face::serve_control(Call& call) {
  const http::RequestHead& head = call.exchange.head();
  const ControlRoute* chosen = nullptr;
  const std::string path = with_colons(head.target.path);
  if (head.method == kSentFiles.method && fits(kSentFiles.pattern, path, call.places)) {
    CO_TRY(call.query, read_query(head.target.query.value_or(std::string{})));
    co_return co_await take_files(call);
  }
  for (const ControlRoute& each : kRoutes) {
    std::vector<std::string> places;
    if (each.route.method != head.method || !fits(each.route.pattern, path, places)) {
      continue;
    }
    chosen = &each;
    call.places = std::move(places);
    break;
  }
  if (chosen == nullptr) {
    co_return co_await answer_error(
        call, wire::ProblemAnswer{.status = 501,
                                  .code = "CORDON-API-NO-ROUTE",
                                  .detail = "this node does not have this call",
                                  .remedy = "docs/e2b.md says which calls it has"});
  }
  call.route = &chosen->route;
  auto bearer = parts_.gate.admit(head, call.exchange.peer());
  if (!bearer) {
    co_return co_await answer_error(
        call, wire::ProblemAnswer{.status = 401,
                                  .code = "CORDON-API-UNAUTHENTICATED",
                                  .detail = bearer.error().text(),
                                  .remedy = "make a key with `cordon apikey create --e2b`"});
  }
  call.authority = std::move(bearer->authority);
  call.key = std::move(bearer->key);
  call.tenant = call.authority.tenant().value_or(std::string{});
  std::optional<node::Quotas::Request> counted;
  if (!call.tenant.empty()) {
    CO_TRY(auto begun, parts_.quotas.begin_request(call.tenant));
    counted.emplace(std::move(begun));
  }
  CO_TRY(call.query, read_query(head.target.query.value_or(std::string{})));
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  CO_TRY_DO(authorise(call.authority, {chosen->route, call.places, call.query, call.tenant}, now));
  CO_TRY_DO(gate::check_origin(head, parts_.settings.origins));
  CO_TRY_DO(record_.begun(call));
  co_return co_await (this->*chosen->handler)(call);
}

}  // namespace cordon::api::e2b
