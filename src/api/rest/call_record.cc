// SPDX-License-Identifier: Apache-2.0
#include "api/rest/call_record.h"

#include <string_view>

#include "base/bytes.h"
#include "base/id.h"
#include "base/log.h"
#include "record/audit_event.h"

namespace cordon::api {
namespace {

constexpr std::chrono::seconds kSoon{1};

// Reading changes nothing; what is read of files has records of its own.
bool changes(const Route& route) {
  return (route.method != "GET" && route.method != "HEAD") ||
         route.operation == token::Operation::process_input ||
         route.operation == token::Operation::tunnel_open;
}

// A client that was told no: who asked too much or for what is another's. A request that could not
// be understood is none, unless a policy has refused it.
bool is_refusal(const wire::ProblemAnswer& problem) {
  return !problem.denials.empty() || problem.status == 401 || problem.status == 403 ||
         problem.status == 404 || problem.status == 429;
}

std::string words_of(const Call& call) {
  if (call.route == nullptr) return "call what is no route";
  return std::string{call.route->method} + " " + std::string{call.route->pattern};
}

audit::Subject subject_of(const Call& call) {
  audit::Subject subject{.tenant = call.tenant, .sandbox = {}};
  const bool names_one =
      call.route != nullptr && call.route->pattern.find("{id}") != std::string_view::npos;
  if (names_one && !call.places.empty() && SandboxId::parse(call.places.front())) {
    subject.sandbox = call.places.front();
  }
  return subject;
}

}  // namespace

CallRecord::CallRecord(const asio::any_io_executor& executor, audit::Log& log, const Clock& clock)
    : log_{log}, clock_{clock}, soon_{executor, kSoon, [this] {
                                        append({}, tally_.flush());
                                        append({}, strangers_.flush());
                                      }} {}

Status CallRecord::begun(const Call& call) {
  if (call.route == nullptr || !changes(*call.route)) return {};
  const auto shown = call.authority.shown();
  return log_.append(subject_of(call), RequestBegun{.request = call.id,
                                                    .call = words_of(call),
                                                    .key = call.key,
                                                    .token = shown ? to_hex(*shown) : ""});
}

void CallRecord::refused(const Call& call, const wire::ProblemAnswer& problem) {
  if (!is_refusal(problem)) return;
  std::vector<Denial> denials = problem.denials;
  if (denials.empty()) {
    denials.push_back({.code = problem.code,
                       .tried = words_of(call),
                       .rule = problem.rule.empty() ? "api" : problem.rule,
                       .why = problem.detail,
                       .action = problem.remedy});
  }
  node::RefusalTally& tally = problem.status == 401 ? strangers_ : tally_;
  const audit::Subject subject = subject_of(call);
  for (const Denial& denial : denials) {
    std::vector<Denial> told = tally.take(denial, clock_.ticks());
    const bool has_itself = !told.empty() && told.back() == denial;
    if (has_itself) told.pop_back();
    append({}, std::move(told));  // counted in an earlier second: anybody's
    if (has_itself) append(subject, {denial});
  }
  if (!tally.is_empty()) soon_.want();
}

void CallRecord::append(const audit::Subject& subject, std::vector<Denial> denials) {
  if (denials.empty()) return;
  std::vector<AuditEvent> events;
  events.reserve(denials.size());
  for (Denial& denial : denials) events.emplace_back(ActRefused{std::move(denial)});
  // It was refused in any case.
  if (const Status written = log_.append(subject, events); !written) {
    log(LogLevel::error, "api", "a refusal was not recorded",
        {{"failure", written.error().text()}});
  }
}

}  // namespace cordon::api
