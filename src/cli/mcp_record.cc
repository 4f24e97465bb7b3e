// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_record.h"

#include <utility>

namespace cordon::cli {

Status ToolRecord::called(const mcp::Called& call) {
  return log_.append(subject_, ToolCalled{.server = server_,
                                          .tool = call.tool,
                                          .arguments = call.arguments,
                                          .rule = call.rule,
                                          .is_approved = call.approved});
}

Status ToolRecord::refused(const mcp::Refused& refusal) {
  const Denial denial{.code = refusal.code,
                      .tried = refusal.tried,
                      .resolved = refusal.resolved,
                      .rule = refusal.rule,
                      .why = refusal.why,
                      .fix = refusal.fix,
                      .action = refusal.action};
  std::vector<AuditEvent> events;
  for (Denial& told : tally_.take(denial, std::chrono::steady_clock::now())) {
    events.emplace_back(ActRefused{std::move(told)});
  }
  static_cast<void>(denials_.add(denial));
  responses_.refused(denial, false);
  return events.empty() ? Status{} : log_.append(subject_, events);
}

std::vector<Denial> ToolRecord::take_denials() {
  std::vector<AuditEvent> rest;
  for (Denial& denial : tally_.flush()) rest.emplace_back(ActRefused{std::move(denial)});
  if (!rest.empty()) static_cast<void>(log_.append(subject_, rest));
  return denials_.take();
}

}  // namespace cordon::cli
