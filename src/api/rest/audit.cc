// SPDX-License-Identifier: Apache-2.0
// The audit log of a tenant, as lines of JSON: from a record that the client has, and on as they
// are written.
#include "api/rest/file_call.h"
#include "api/rest/rest.h"
#include "wire/event_answer.h"

namespace cordon::api {
namespace {

// Terms with spaces between them.
Result<audit::Query> terms_in(const Call& call) {
  std::vector<std::string> terms;
  const auto found = call.query.find("where");
  std::string_view rest = found == call.query.end() ? std::string_view{} : found->second;
  while (!rest.empty()) {
    const std::string_view term = rest.substr(0, rest.find(' '));
    if (!term.empty()) terms.emplace_back(term);
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
  }
  auto query = audit::Query::parse(terms);
  if (!query) return std::move(query).error().with("where");
  return query;
}

}  // namespace

async::Task<void> Rest::stream_audit(Call& call) {
  CO_TRY_DO(only_known(call, {"since", "follow", "where"}));
  CO_TRY(const auto since, number_of(call, "since"));
  CO_TRY(audit::Query query, terms_in(call));
  CO_TRY(const bool follows, follows_of(call));
  CO_TRY(node::AuditFeed::Reader reader,
         co_await parts_.feed.open(
             {.tenant = call.tenant, .query = std::move(query), .since = since}));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  if (reader.dropped() > 0) {
    CO_TRY_DO(co_await call.exchange.write(
        wire::lost_line(std::to_string(since.value_or(0) + reader.dropped()), reader.dropped())));
  }
  for (;;) {
    CO_TRY(const std::string lines, co_await reader.next());
    if (!lines.empty()) {
      CO_TRY_DO(co_await call.exchange.write(lines));
    } else if (!follows) {
      co_return co_await call.exchange.finish();
    } else {
      co_await reader.news();
    }
  }
}

}  // namespace cordon::api
