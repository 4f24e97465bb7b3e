// SPDX-License-Identifier: Apache-2.0
#include "node/local_monitor.h"

#include <boost/asio/post.hpp>

#include "monitor/foresee.h"

namespace cordon::node {

LocalMonitor::LocalMonitor(asio::any_io_executor executor, const plan::Lowered& lowered,
                           SeenRecord& record)
    : executor_{std::move(executor)},
      fences_{lowered.plan.setup.fences},
      classes_{monitor::classes_of(lowered.enforcement.reported)},
      record_{record} {}

Status LocalMonitor::begin(os::Fd witness) {
  if (!witness) return Error{Errc::internal, "the launcher sent no way for what is told"};
  TRY(witness_, monitor::Witness::start(std::move(witness), {.when_news = [this] {
                                          asio::post(executor_, [this] { take_news(); });
                                        }}));
  return {};
}

// Refusals always, all else as the policy asks.
bool LocalMonitor::is_wanted(const monitor::Seen& seen) const {
  using monitor::Class;
  if (seen.result < 0) return true;
  Class of = Class::writes;
  if (std::holds_alternative<monitor::SeenExec>(seen.what)) of = Class::exec;
  if (std::holds_alternative<monitor::SeenConnect>(seen.what)) of = Class::connects;
  return (classes_ & bit_of(of)) != 0;
}

void LocalMonitor::take_news() {
  const monitor::Witness::News news = witness_->take();
  if (!news.root) return;
  const monitor::Ground ground{
      .root = *news.root, .rules = fences_.paths, .has_landlock = fences_.landlock_abi > 0};
  for (const monitor::Intent& intent : news.intents) {
    const auto seen = monitor::foresee(intent, ground);
    if (seen && is_wanted(*seen)) record_.take(*seen);
  }
  record_.take_untold(news.untold);
  record_.write();
}

void LocalMonitor::end() {
  if (!witness_) return;
  witness_->join();
  take_news();
}

}  // namespace cordon::node
