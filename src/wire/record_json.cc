// SPDX-License-Identifier: Apache-2.0
#include "wire/record_json.h"

namespace cordon::wire {

void write(JsonWriter& json, const Verdict& verdict) {
  json.begin_object();
  json.text("ending", to_string(verdict.ending));
  json.number("status", static_cast<std::int64_t>(verdict.status));
  if (verdict.limit != 0) json.number("limit", verdict.limit);
  if (verdict.limit != 0) json.number("peak", verdict.peak);
  if (!verdict.culprit.empty()) json.text("culprit", verdict.culprit);
  json.text("explanation", verdict.explanation);
  json.end_object();
}

void write(JsonWriter& json, const Denial& denial) {
  json.begin_object();
  json.text("code", denial.code);
  json.text("tried", denial.tried);
  if (!denial.resolved.empty()) json.text("resolved", denial.resolved);
  json.text("rule", denial.rule);
  json.text("why", denial.why);
  if (!denial.fix.empty()) json.text("fix", denial.fix);
  if (!denial.action.empty()) json.text("action", denial.action);
  json.boolean("retryable", denial.retry_helps);
  json.number("count", denial.count);
  json.end_object();
}

}  // namespace cordon::wire
