// SPDX-License-Identifier: Apache-2.0
#include "api/rest/shown.h"

namespace cordon::api {

wire::SandboxAnswer shown(const node::Resident& resident) {
  const node::ResidentFacts& facts = resident.facts();
  return {.id = facts.id.text(),
          .tenant = facts.tenant,
          .is_living = !resident.verdict(),
          .created = facts.created,
          .expires = facts.expires,
          .labels = facts.labels,
          .isolation = std::string{to_string(isolation_of(resident.lowered().enforcement))},
          .enforcement = resident.lowered().enforcement,
          .verdict = resident.verdict()};
}

wire::SandboxAnswer shown(const node::EndedSandbox& ended) {
  return {.id = ended.facts.id.text(),
          .tenant = ended.facts.tenant,
          .is_living = false,
          .created = ended.facts.created,
          .expires = ended.facts.expires,
          .labels = ended.facts.labels,
          .isolation = std::string{to_string(isolation_of(ended.enforcement))},
          .enforcement = ended.enforcement,
          .verdict = ended.verdict};
}

wire::ProcessAnswer shown(const node::ResidentProcess& process) {
  wire::ProcessAnswer answer{.number = process.number(),
                             .command = process.program(),
                             .pid = process.pid(),
                             .has_terminal = process.has_terminal(),
                             .failure = process.failure(),
                             .out = process.written()[0],
                             .err = process.written()[1],
                             .out_from = process.held_from()[0],
                             .err_from = process.held_from()[1]};
  if (const auto& exited = process.exited()) {
    answer.exit = wire::ExitAnswer{.by_signal = exited->by_signal,
                                   .value = exited->value,
                                   .cpu_microseconds = exited->cpu_microseconds,
                                   .most_memory = exited->most_memory};
  }
  return answer;
}

wire::ProblemAnswer problem_with(const Error& error, const node::WhyNotAdmitted& why) {
  wire::ProblemAnswer problem = wire::problem_of(error);
  problem.problems = why.problems.all();
  problem.denials = why.denials;
  if (why.no_room) {
    problem.no_room = to_string(*why.no_room);
    if (*why.no_room == node::NoRoom::unit) return problem;
    const bool is_full = *why.no_room == node::NoRoom::full;
    problem.code = is_full ? "CORDON-NODE-FULL" : "CORDON-NODE-DRAINING";
    problem.remedy = is_full ? "end a sandbox, or ask another node" : "ask another node";
  }
  return problem;
}

wire::ProblemAnswer is_paused_problem() {
  return {.status = 409,
          .code = "CORDON-SANDBOX-PAUSED",
          .detail = "the sandbox is paused: everything in it stands still, and nothing is started",
          .remedy = "resume it by `connect` of the E2B API, or end it"};
}

Result<std::optional<wire::Unit>> unit_of(const Call& call) {
  const http::Fields& fields = call.exchange.head().fields;
  if (http::count(fields, wire::kUnitField) == 0) return std::optional<wire::Unit>{};
  TRY(const wire::Unit unit,
      wire::read_unit(http::only(fields, wire::kUnitField).value_or(std::string_view{})));
  return std::optional{unit};
}

std::string owner_of(const Call& call) { return call.tenant.empty() ? "default" : call.tenant; }

}  // namespace cordon::api
