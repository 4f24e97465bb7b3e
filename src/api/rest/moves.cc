// SPDX-License-Identifier: Apache-2.0
// A sandbox that goes from one node of a fleet to another, from the side of either: each step is
// asked for by a gateway (docs/fleet.md).
#include <fmt/format.h>

#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::api {
namespace {

constexpr std::size_t kLargestTraveller = std::size_t{8} << 20U;
constexpr std::size_t kMoveLetters = 32;

bool is_move(std::string_view text) {
  return text.size() == kMoveLetters &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Which attempt it is about.
Result<std::string> move_of(const Call& call) {
  const auto found = call.query.find("move");
  if (found != call.query.end() && is_move(found->second)) return found->second;
  return Error{Errc::invalid, "query: `move` is the number of the move, 32 hexadecimal digits"};
}

struct Meant {
  SandboxId id;
  std::string move;
};
Result<Meant> meant_by(const Call& call) {
  TRY(SandboxId id, SandboxId::parse(call.places.front()));
  TRY(std::string move, move_of(call));
  return Meant{std::move(id), std::move(move)};
}

// A node by itself has nowhere to send anything, and nobody to take it from.
Status is_of_fleet(const node::Settings& settings) {
  if (settings.fleet) return {};
  return Error{Errc::not_found, "this node is in no fleet: no sandbox moves from or to it"};
}

bool is_node_name(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

async::Task<void> Rest::leave_sandbox(Call& call) {
  CO_TRY_DO(is_of_fleet(parts_.settings));
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(std::string move, move_of(call));
  CO_TRY(const std::string body, co_await call.exchange.read_body(wire::kLargestRequest));
  policy::Problems problems{"request"};
  const auto read = policy::read_json(body, problems);
  const policy::Value* const named = read ? read->find("sandbox") : nullptr;
  if (named == nullptr || named->text() == nullptr || read->table()->size() != 1) {
    co_return Error{Errc::invalid, "a departure is {\"sandbox\": ID}"};
  }
  call.places = {*named->text()};
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto left,
         co_await parts_.residents.leave(resident, std::move(move), parts_.doors(*resident)));
  const node::ResidentFacts& facts = resident->facts();
  const auto& wall = resident->lowered().budgets.wall;
  wire::JsonWriter json;
  json.begin_object();
  json.text("tenant", facts.tenant);
  // Until when it lives if somebody has it live as long as it may.
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const auto last = std::chrono::ceil<std::chrono::seconds>(
      wall ? facts.created + *wall : WallTime{now} + std::chrono::seconds{wire::kLongestLife});
  json.number("seconds", static_cast<std::uint64_t>((last - now).count()));
  json.text("traveller", left.traveller);
  json.key("paths");
  json.begin_array();
  for (const std::string& path : left.paths) json.text(path);
  json.end_array();
  json.end_object();
  co_return co_await answer_json(call, 200, json.take());
}

async::Task<void> Rest::check_leaving(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(const Meant meant, meant_by(call));
  CO_TRY_DO(parts_.residents.leaving(meant.id, meant.move));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::read_leaving(Call& call) {
  CO_TRY_DO(only_known(call, {"move", "path"}));
  CO_TRY(const Meant meant, meant_by(call));
  CO_TRY(auto resident, parts_.residents.leaving(meant.id, meant.move));
  co_return co_await give_tree(call, std::move(resident));
}

async::Task<void> Rest::end_leaving(Call& call) {
  CO_TRY_DO(only_known(call, {"move", "to"}));
  CO_TRY(Meant meant, meant_by(call));
  const auto to = call.query.find("to");
  if (to == call.query.end() || !is_node_name(to->second)) {
    co_return Error{Errc::invalid, "query: `to` is the node where it goes on: CELL.NODE"};
  }
  CO_TRY_DO(
      co_await parts_.residents.depart(std::move(meant.id), std::move(meant.move), to->second));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::stay_sandbox(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(const Meant meant, meant_by(call));
  parts_.residents.stay(meant.id, meant.move);
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::take_arrival(Call& call) {
  CO_TRY_DO(is_of_fleet(parts_.settings));
  CO_TRY_DO(only_known(call, {"move", "sandbox"}));
  CO_TRY(std::string move, move_of(call));
  const auto sandbox = call.query.find("sandbox");
  if (sandbox == call.query.end()) {
    co_return Error{Errc::invalid, "query: `sandbox` is the id of the one that comes"};
  }
  CO_TRY(std::string traveller, co_await call.exchange.read_body(kLargestTraveller));
  CO_TRY(const auto unit, unit_of(call));
  node::WhyNotAdmitted why;
  node::Residents::ArriveOrder order{.sandbox = sandbox->second,
                                     .traveller = std::move(traveller),
                                     .move = std::move(move),
                                     .standby = parts_.standby(),
                                     .unit = unit};
  const auto made = co_await parts_.residents.arrive(std::move(order), why);
  if (!made) co_return co_await answer_problem(call, problem_with(made.error(), why));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::write_arriving(Call& call) {
  CO_TRY_DO(only_known(call, {"move", "path"}));
  CO_TRY(const Meant meant, meant_by(call));
  CO_TRY(auto resident, parts_.residents.arriving(meant.id, meant.move));
  co_return co_await take_tree(call, std::move(resident));
}

async::Task<void> Rest::check_arrival(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(const Meant meant, meant_by(call));
  CO_TRY_DO(parts_.residents.arriving(meant.id, meant.move));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::ready_arrival(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(Meant meant, meant_by(call));
  CO_TRY_DO(co_await parts_.residents.ready(std::move(meant.id), std::move(meant.move)));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::settle_arrival(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(Meant meant, meant_by(call));
  CO_TRY_DO(co_await parts_.residents.settle(std::move(meant.id), std::move(meant.move)));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::turn_back_arrival(Call& call) {
  CO_TRY_DO(only_known(call, {"move"}));
  CO_TRY(Meant meant, meant_by(call));
  CO_TRY_DO(co_await parts_.residents.turn_back(std::move(meant.id), std::move(meant.move)));
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
