// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.h"

#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

// All of them are there, whatever their values.
void put(wire::JsonWriter& json, const Verdict& verdict) {
  json.key("verdict");
  json.begin_object();
  json.text("ending", to_string(verdict.ending));
  json.number("status", std::int64_t{verdict.status});
  json.number("limit", verdict.limit);
  json.number("peak", verdict.peak);
  json.text("culprit", verdict.culprit);
  json.text("explanation", verdict.explanation);
  json.text("line", to_line(verdict));
  json.end_object();
}

void put(wire::JsonWriter& json, const Denial& denial) {
  json.begin_object();
  json.text("code", denial.code);
  json.text("tried", denial.tried);
  json.text("resolved", denial.resolved);
  json.text("rule", denial.rule);
  json.text("why", denial.why);
  json.text("fix", denial.fix);
  json.text("action", denial.action);
  json.boolean("retryable", denial.retry_helps);
  json.number("count", denial.count);
  json.end_object();
}

void put(wire::JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

void put(wire::JsonWriter& json, const Enforcement& enforcement) {
  json.key("enforcement");
  json.begin_object();
  json.key("mechanisms");
  json.begin_array();
  for (const Mechanism& mechanism : enforcement.mechanisms) {
    json.begin_object();
    json.text("name", mechanism.name);
    json.text("hold", to_string(mechanism.hold));
    json.text("detail", mechanism.detail);
    json.end_object();
  }
  json.end_array();
  put(json, "reported", enforcement.reported);
  json.end_object();
}

void put(wire::JsonWriter& json, const frame::GroupUse& use) {
  const auto number = [&](std::string_view name, const std::optional<std::uint64_t>& value) {
    value ? json.number(name, *value) : json.nothing(name);
  };
  json.key("usage");
  json.begin_object();
  number("memory_peak", use.memory_peak);
  number("oom_kills", use.oom_kills);
  number("pids_peak", use.pids_peak);
  number("pids_refused", use.pids_refused);
  number("cpu_microseconds", use.cpu_microseconds);
  json.end_object();
}

}  // namespace

std::string to_json(const RunReport& report) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("id", report.id);
  put(json, "command", report.command);
  json.text("level", to_string(report.level));
  json.number("exit", std::int64_t{report.exit});
  put(json, report.enforcement);
  json.key("denials");
  json.begin_array();
  for (const Denial& denial : report.denials) put(json, denial);
  json.end_array();
  if (!report.review.empty()) json.text("review", report.review);
  if (!report.failure.empty()) json.text("failure", report.failure);
  if (report.outcome) {
    put(json, report.outcome->verdict);
    put(json, report.outcome->use);
    json.number("output_bytes", report.outcome->output_bytes);
    json.number("wall_ms", std::int64_t{report.outcome->wall.count()});
  }
  json.end_object();
  return json.take() + "\n";
}

}  // namespace cordon::cli
