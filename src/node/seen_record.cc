// SPDX-License-Identifier: Apache-2.0
#include "node/seen_record.h"

#include "base/log.h"
#include "monitor/told.h"
#include "plan/path_rules.h"
#include "policy/act.h"

namespace cordon::node {

Result<SeenRecord> SeenRecord::of(audit::Log& log, audit::Subject subject,
                                  const plan::Lowered& lowered) {
  const auto filter = os::filter_profile_from_string(lowered.plan.setup.fences.filter);
  if (!filter) return Error{Errc::invalid, "monitor: no filter of that name"};
  return SeenRecord{log, std::move(subject), *filter, lowered};
}

void SeenRecord::take(const monitor::Seen& seen) {
  auto told =
      monitor::told_of(seen, {.filter = filter_,
                              .files = monitor::is_failure_of_a_file(seen) ? files() : nullptr,
                              .workspace = workspace_});
  if (!told) return;
  const auto* const refused = std::get_if<ActRefused>(&*told);
  if (refused == nullptr) {
    unwritten_.push_back(*std::move(told));
    return;
  }
  const bool is_told = refused->denial.code != monitor::kAbsentCall;
  if (is_told && denials_.add(refused->denial) && when_refused_) when_refused_(refused->denial);
  for (Denial& one : refusals_.take(refused->denial, std::chrono::steady_clock::now())) {
    unwritten_.emplace_back(ActRefused{std::move(one)});
  }
  if (responses_ == nullptr || !is_told) return;
  // In their order: what is done about it is recorded behind it.
  const Denial denial = refused->denial;
  write();
  responses_->refused(denial, is_of_a_protected_name(denial));
}

bool SeenRecord::is_of_a_protected_name(const Denial& denial) {
  const auto act = policy::act_of(denial);
  if (!act) return false;
  const auto* const path = std::get_if<policy::PathAct>(&*act);
  if (path == nullptr || path->access != policy::Access::write || files() == nullptr) return false;
  const policy::Reason reason = policy::decide(*files(), *act, workspace_).reason;
  return reason == policy::Reason::protected_ || reason == policy::Reason::hidden;
}

const policy::Policy* SeenRecord::files() {
  if (!files_ && !paths_.empty()) {
    auto made = plan::path_policy_of(paths_);
    paths_.clear();
    if (made) {
      files_.emplace(*std::move(made));
    } else {
      cordon::log(LogLevel::error, "node", "what is refused of files is not told",
                  {{"sandbox", subject_.sandbox}, {"failure", made.error().text()}});
    }
  }
  return files_ ? &*files_ : nullptr;
}

void SeenRecord::take_untold(const recorder::Untold& untold) {
  const auto tell = [&](std::uint64_t count, const char* why) {
    if (count > 0) unwritten_.emplace_back(RecordsLost{"monitor", count, why});
  };
  tell(untold.over - told_.over, "more happened in a second than is recorded of one sandbox");
  tell(untold.lost - told_.lost, "what happened was not read as fast as it happened");
  tell(untold.unnamed - told_.unnamed,
       "a name in them is no UTF-8, and the sandbox's kernel cannot tell it");
  tell(lost_, "the log did not take them");
  told_ = untold;
  lost_ = 0;
  for (Denial& one : refusals_.flush()) unwritten_.emplace_back(ActRefused{std::move(one)});
}

void SeenRecord::write() {
  if (unwritten_.empty()) return;
  if (!log_->append(subject_, unwritten_)) lost_ += unwritten_.size();
  unwritten_.clear();
}

}  // namespace cordon::node
