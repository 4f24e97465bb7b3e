// SPDX-License-Identifier: Apache-2.0
// Sandboxes: create, list, look at, change, end.
#include <fmt/format.h>

#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "token/mac.h"

namespace cordon::api {
namespace {

constexpr std::size_t kMostListed = 1000;
constexpr std::size_t kListed = 100;
constexpr std::size_t kLongestKey = 128;
constexpr std::string_view kIdempotencyField = "Idempotency-Key";

Result<std::string> key_of(const http::RequestHead& head) {
  if (http::count(head.fields, kIdempotencyField) == 0) return std::string{};
  const auto key = http::only(head.fields, kIdempotencyField);
  if (!key || key->empty() || key->size() > kLongestKey) {
    return Error{Errc::invalid,
                 fmt::format("{}: one text of 1 to {} bytes", kIdempotencyField, kLongestKey)};
  }
  return std::string{*key};
}

// `label.NAME=VALUE` in the query: all of them hold.
node::Labels labels_of(const Query& query) {
  constexpr std::string_view kPrefix = "label.";
  node::Labels labels;
  for (const auto& [name, value] : query) {
    if (name.starts_with(kPrefix)) labels.emplace(name.substr(kPrefix.size()), value);
  }
  return labels;
}

bool has_labels(const node::Resident& resident, const node::Labels& wanted) {
  const node::Labels& own = resident.facts().labels;
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto found = own.find(label.first);
    return found != own.end() && found->second == label.second;
  });
}

}  // namespace

async::Task<void> Rest::create_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(std::string key, key_of(call.exchange.head()));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  auto request = wire::read_create_request(body.empty() ? "{}" : body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  if (request->labels.contains(std::string{node::kPausedLabel})) {
    co_return Error{Errc::invalid, "`labels`: e2b.paused is the node's own; leave it out"};
  }
  CO_TRY(const auto unit, unit_of(call));
  node::CreateOrder order{.tenant = owner_of(call),
                          .request = *std::move(request),
                          .key = std::move(key),
                          .digest = sha256({as_bytes(body)}),
                          .unit = unit};
  const auto made = co_await parts_.residents.create(std::move(order), call.authority, why);
  if (!made) co_return co_await answer_problem(call, problem_with(made.error(), why));
  co_return co_await answer_json(call, 201, wire::to_json(shown(**made)));
}

async::Task<void> Rest::list_sandboxes(Call& call) {
  for (const auto& [name, value] : call.query) {
    if (name != "after" && name != "limit" && !name.starts_with("label.")) {
      co_return Error{Errc::invalid, "query: known here: after, limit, label.NAME"};
    }
  }
  CO_TRY(const auto limit, number_of(call, "limit"));
  const std::size_t most = std::min<std::uint64_t>(limit.value_or(kListed), kMostListed);
  if (most == 0) co_return Error{Errc::invalid, "query: `limit` is at least 1"};
  const auto after = call.query.find("after");
  const node::Labels wanted = labels_of(call.query);
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const auto accept = [&](const node::Resident& resident) {
    const node::ResidentFacts& facts = resident.facts();
    if (!call.tenant.empty() && facts.tenant != call.tenant) return false;
    const token::Query query{.operation = token::Operation::sandbox_read,
                             .tenant = facts.tenant,
                             .sandbox = facts.id.text()};
    return static_cast<bool>(call.authority.may(query, now)) && has_labels(resident, wanted);
  };
  // One more than is shown tells whether there is more.
  auto page =
      parts_.residents.list(after == call.query.end() ? "" : after->second, most + 1, accept);
  wire::ListAnswer answer;
  const bool more = page.size() > most;
  if (more) page.pop_back();
  for (const auto& resident : page) answer.sandboxes.push_back(shown(*resident));
  if (more) answer.next = page.back()->facts().id.text();
  co_return co_await answer_json(call, 200, wire::to_json(answer));
}

async::Task<void> Rest::get_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  if (const auto resident = living(call)) {
    co_return co_await answer_json(call, 200, wire::to_json(shown(**resident)));
  }
  CO_TRY(const auto ended, co_await ended_sandbox(call));
  const bool is_known = ended && ended->verdict.ending != Ending::moved;
  if (!is_known) co_return Error{Errc::not_found, "there is no such sandbox"};
  co_return co_await answer_json(call, 200, wire::to_json(shown(*ended)));
}

async::Task<void> Rest::change_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  node::WhyNotAdmitted why;
  auto request = wire::read_change_request(body, why.problems);
  if (!request) co_return co_await answer_problem(call, problem_with(request.error(), why));
  std::optional<WallTime> expires;
  if (const auto life = request->timeout_seconds) {
    expires = parts_.clock.wall() + std::chrono::seconds{*life};
  }
  if (request->labels) {
    const std::string paused{node::kPausedLabel};
    request->labels->erase(paused);
    if (resident->is_paused()) request->labels->emplace(paused, "true");
  }
  node::Change change{expires, std::move(request->labels), std::move(request->policy)};
  const auto changed = co_await parts_.residents.change(resident, std::move(change), why);
  if (!changed) co_return co_await answer_problem(call, problem_with(changed.error(), why));
  co_return co_await answer_json(call, 200, wire::to_json(shown(*resident)));
}

async::Task<void> Rest::delete_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(const auto resident, living(call));
  CO_TRY_DO(co_await parts_.residents.end(resident, {.ending = Ending::killed}));
  co_return co_await answer_json(call, 200, wire::to_json(shown(*resident)));
}

}  // namespace cordon::api
