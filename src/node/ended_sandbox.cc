// SPDX-License-Identifier: Apache-2.0
#include "node/ended_sandbox.h"

#include "node/kept_plan.h"
#include "node/kept_verdict.h"
#include "node/labels_text.h"

namespace cordon::node {

Result<ResidentFacts> facts_of(const journal::SandboxRow& row) {
  TRY(SandboxId id, SandboxId::parse(row.id));
  TRY(Labels labels, read_labels(row.labels));
  return ResidentFacts{.id = std::move(id),
                       .tenant = row.tenant,
                       .created = row.created,
                       .expires = row.expires,
                       .labels = std::move(labels)};
}

std::optional<EndedSandbox> read_ended(const journal::SandboxRow& row) {
  auto facts = facts_of(row);
  auto verdict = read_verdict(row.verdict);
  auto kept = read_kept(row.policy);
  if (!facts || !verdict || !kept) return std::nullopt;
  return EndedSandbox{*std::move(facts), std::move(kept->lowered.enforcement), *std::move(verdict)};
}

}  // namespace cordon::node
