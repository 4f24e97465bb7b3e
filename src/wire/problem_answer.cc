// SPDX-License-Identifier: Apache-2.0
#include "wire/problem_answer.h"

#include "wire/json_writer.h"

namespace cordon::wire {
namespace {

struct CodeRow {
  Errc code;
  int status;
  std::string_view name;
  std::string_view remedy;
};

constexpr CodeRow kCodeRows[] = {
    {Errc::invalid, 400, "CORDON-API-INVALID", "mend the request and send it again"},
    {Errc::denied, 403, "CORDON-API-DENIED", "ask for a token that allows it"},
    {Errc::not_found, 404, "CORDON-API-NOT-FOUND", "list what there is"},
    {Errc::exists, 409, "CORDON-API-CONFLICT", "use another name or key"},
    {Errc::exhausted, 429, "CORDON-API-EXHAUSTED", "free something, or wait and send it again"},
    {Errc::timeout, 504, "CORDON-API-TIMEOUT", "send it again, perhaps later"},
    {Errc::unavailable, 503, "CORDON-API-UNAVAILABLE", "send it again later"},
    {Errc::unrecorded, 503, "CORDON-AUDIT-UNAVAILABLE",
     "tell the operator: the node does nothing that it cannot record"},
    {Errc::internal, 500, "CORDON-API-INTERNAL", "tell the operator; the log has the request id"},
};

const CodeRow& row_of(Errc code) {
  for (const CodeRow& row : kCodeRows) {
    if (row.code == code) return row;
  }
  return kCodeRows[std::size(kCodeRows) - 1];
}

void write(JsonWriter& json, const policy::Problem& problem) {
  json.begin_object();
  json.text("where", problem.file + ":" + std::to_string(problem.mark.line) + ":" +
                         std::to_string(problem.mark.column));
  json.text("message", problem.message);
  json.end_object();
}

void write_briefly(JsonWriter& json, const Denial& denial) {
  json.begin_object();
  json.text("code", denial.code);
  json.text("tried", denial.tried);
  json.text("rule", denial.rule);
  json.text("why", denial.why);
  if (!denial.action.empty()) json.text("action", denial.action);
  json.end_object();
}

}  // namespace

ProblemAnswer problem_of(const Error& error) {
  const CodeRow& row = row_of(error.code());
  return {.status = row.status,
          .code = std::string{row.name},
          .detail = error.text(),
          .remedy = std::string{row.remedy}};
}

std::string to_json(const ProblemAnswer& problem) {
  JsonWriter json;
  json.begin_object();
  json.text("type", "urn:cordon:problem:" + problem.code);
  json.number("status", std::int64_t{problem.status});
  json.text("code", problem.code);
  json.text("detail", problem.detail);
  if (!problem.remedy.empty()) json.text("remedy", problem.remedy);
  if (!problem.entry.empty()) json.text("entry", problem.entry);
  if (!problem.rule.empty()) json.text("rule", problem.rule);
  if (!problem.problems.empty()) {
    json.key("problems");
    json.begin_array();
    for (const policy::Problem& one : problem.problems) write(json, one);
    json.end_array();
  }
  if (!problem.denials.empty()) {
    json.key("denials");
    json.begin_array();
    for (const Denial& denial : problem.denials) write_briefly(json, denial);
    json.end_array();
  }
  json.end_object();
  return json.take();
}

}  // namespace cordon::wire
