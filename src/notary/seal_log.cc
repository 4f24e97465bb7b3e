// SPDX-License-Identifier: Apache-2.0
#include "notary/seal_log.h"

#include "audit/added_range.h"
#include "audit/heads_file.h"

namespace cordon::notary {

Result<std::optional<audit::Head>> seal_log(Notary& notary, const os::Fd& log) {
  TRY(const std::string id, audit::read_log_id(log));
  const frame::NotaryReady ready = notary.ready();
  TRY(os::Fd directory, os::duplicate(log));
  TRY(audit::AddedRange added,
      audit::AddedRange::open(std::move(directory), id == ready.log ? ready.size : 0));
  TRY(const audit::TreeRange range, added.read());
  std::optional<audit::Head> head;
  if (range.begin() == range.end() && id == ready.log) return head;
  TRY(head, notary.sign(
                {.log = id, .begin = range.begin(), .end = range.end(), .hashes = range.bytes()}));
  TRY_DO(audit::append_head(log, audit::kHeads, *head));
  return head;
}

}  // namespace cordon::notary
