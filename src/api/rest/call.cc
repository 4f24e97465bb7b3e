// SPDX-License-Identifier: Apache-2.0
#include "api/rest/call.h"

#include "api/rest/call_record.h"
#include "node/room.h"

namespace cordon::api {

Result<std::optional<std::uint64_t>> number_of(const Call& call, std::string_view name) {
  return gate::number_of(call.query, name);
}

Status only_known(const Call& call, std::initializer_list<std::string_view> known) {
  return gate::only_known(call.query, known);
}

async::Task<void> answer_json(Call& call, int status, std::string body) {
  return call.exchange.answer(status, stream_fields(call, "application/json"), std::move(body));
}

async::Task<void> answer_nothing(Call& call) {
  return call.exchange.answer(204, {{"Cordon-Request", call.id}}, {});
}

async::Task<void> answer_problem(Call& call, const wire::ProblemAnswer& problem) {
  if (call.record != nullptr) call.record->refused(call, problem);
  http::Fields fields = stream_fields(call, "application/problem+json");
  if (!problem.no_room.empty()) {
    fields.push_back({std::string{node::kNoRoomField}, problem.no_room});
  }
  if (!problem.moved.empty()) {
    fields.push_back({std::string{wire::kMovedField}, problem.moved});
  }
  return call.exchange.answer(problem.status, std::move(fields), wire::to_json(problem));
}

http::Fields stream_fields(const Call& call, std::string_view type) {
  return {{"Content-Type", std::string{type}},
          {"Cache-Control", "no-store"},
          {"Cordon-Request", call.id}};
}

}  // namespace cordon::api
