// SPDX-License-Identifier: Apache-2.0
// One request to API v1 after it was found who asks: its parts, and the ways to answer it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "gate/query.h"
#include "http/exchange.h"
#include "token/authority.h"
#include "wire/problem_answer.h"

namespace cordon::api {

using gate::Query;
using gate::read_query;

class CallRecord;
struct Route;

struct Call {
  http::Exchange& exchange;
  std::vector<std::string> places;  // what stands at the braces of the route, in their order
  Query query;
  token::Authority authority;
  std::string key;               // the id of the API key that was shown; empty: none was
  std::string tenant;            // whose things are meant
  std::string id;                // of the request, in log and answer
  const Route* route = nullptr;  // nothing: there is none
  CallRecord* record = nullptr;  // where a refusal is recorded; nothing: nowhere
};

// A number of the query; nothing: it is not there. `invalid`: it is none.
Result<std::optional<std::uint64_t>> number_of(const Call& call, std::string_view name);
// `invalid`: a name is there that is not in `known`.
Status only_known(const Call& call, std::initializer_list<std::string_view> known);

async::Task<void> answer_json(Call& call, int status, std::string body);
async::Task<void> answer_nothing(Call& call);
async::Task<void> answer_problem(Call& call, const wire::ProblemAnswer& problem);

http::Fields stream_fields(const Call& call, std::string_view type);

}  // namespace cordon::api
