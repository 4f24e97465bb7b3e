// SPDX-License-Identifier: Apache-2.0
#include "api/rest/rights.h"

namespace cordon::api {
Status authorise(const token::Authority& authority, const token::Query& query, bool hides,
                 std::chrono::sys_seconds now) {
  const token::Answer answer = authority.may(query, now);
  if (answer) return {};
  if (answer.by == token::Refuser::tenant && hides) {
    return Error{Errc::not_found, "there is no such sandbox"};
  }
  return Error{Errc::denied, answer.words};
}

Status authorise(const token::Authority& authority, const Asked& asked,
                 std::chrono::sys_seconds now) {
  if (!asked.route.operation) return {};
  const token::OperationRow& row = token::row_of(*asked.route.operation);
  // What is an operator's alone is no tenant's, and hides nothing.
  const bool is_of_node = row.reach == token::Reach::node;
  const bool has_sandbox =
      !is_of_node && asked.route.pattern.find("{id}") != std::string_view::npos;
  token::Query query{.operation = *asked.route.operation,
                     .tenant = is_of_node ? std::string_view{} : asked.tenant};
  if (has_sandbox) query.sandbox = asked.places.front();
  if (!row.has_path) return authorise(authority, query, has_sandbox, now);
  // Every path that is named is one that it is about.
  for (const std::string_view name : {"path", "to"}) {
    const auto path = asked.query.find(name);
    if (path == asked.query.end() && name != "path") continue;
    query.path = path == asked.query.end() ? std::string_view{"/"} : std::string_view{path->second};
    TRY_DO(authorise(authority, query, has_sandbox, now));
  }
  return {};
}

}  // namespace cordon::api
