// SPDX-License-Identifier: Apache-2.0
#include "notary/notary.h"

#include <algorithm>

#include "audit/heads_file.h"
#include "base/id.h"

namespace cordon::notary {
namespace {

constexpr std::size_t kLongestLog = 52;

Error refused(std::string why) { return {Errc::denied, "notary: " + std::move(why)}; }

}  // namespace

frame::NotaryReady Notary::ready() const {
  return {.log = state_.state().log, .size = state_.state().tree.end()};
}

Result<SignedState> Notary::next_state(const frame::SignHead& wanted) const {
  SignedState next = state_.state();
  if (wanted.log.size() > kLongestLog || !is_base32_name(wanted.log)) {
    return refused("the id of the log is none");
  }
  if (wanted.log != next.log) {
    if (std::ranges::find(next.closed, wanted.log) != next.closed.end()) {
      return refused("another log was begun after " + wanted.log + ": it is closed");
    }
    if (next.closed.size() >= kMostClosed) {
      return refused(
          "it has signed as many logs as it can remember; begin with an empty directory");
    }
    if (!next.log.empty()) next.closed.push_back(next.log);
    next.log = wanted.log;
    next.tree = audit::TreeRange{};
  }
  if (wanted.begin != next.tree.end()) {
    return refused(std::to_string(next.tree.end()) +
                   " records are signed, and the next ones begin at " +
                   std::to_string(wanted.begin));
  }
  TRY(const audit::TreeRange added,
      audit::TreeRange::from_bytes(wanted.begin, wanted.end, wanted.hashes));
  TRY_DO(next.tree.join(added));
  return next;
}

// What is signed is remembered first: who dies in between has signed less than it remembers.
Result<audit::Head> Notary::sign(const frame::SignHead& wanted) {
  TRY(SignedState next, next_state(wanted));
  audit::Head head{
      .log = next.log, .size = next.tree.end(), .root = next.tree.root(), .time = clock_.wall()};
  TRY_DO(state_.write(std::move(next)));
  TRY_DO(key_.sign(head));
  TRY_DO(audit::append_head(anchor_, head));
  return head;
}

}  // namespace cordon::notary
