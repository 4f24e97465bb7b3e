// SPDX-License-Identifier: Apache-2.0
#include "node/local_monitor.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include <boost/asio/post.hpp>

#include "monitor/foresee.h"

namespace cordon::node {
namespace {

// Of one turn of the loop: the caller's terminal waits meanwhile.
constexpr std::size_t kMostATurn = 512;
// A wake of the loop, and a write of the log, cost more than a call that is told. What is looked up
// later finds the tree changed more often, so it is no longer than this.
constexpr std::chrono::milliseconds kNewsGather{4};

}  // namespace

LocalMonitor::LocalMonitor(asio::any_io_executor executor, const plan::Lowered& lowered,
                           SeenRecord& record)
    : executor_{std::move(executor)},
      gathered_{executor_},
      fences_{lowered.plan.setup.fences},
      classes_{monitor::classes_of(lowered.enforcement.reported)},
      record_{record} {}

Status LocalMonitor::begin(os::Fd witness) {
  if (!witness) return Error{Errc::internal, "the launcher sent no way for what is told"};
  TRY(witness_, monitor::Witness::start(std::move(witness), {.when_news = [this] {
                                          asio::post(executor_, [this] { gather(); });
                                        }}));
  return {};
}

void LocalMonitor::gather() {
  gathered_.expires_after(kNewsGather);
  gathered_.async_wait([this](const boost::system::error_code& ended) {
    if (!ended) take_news();
  });
}

void LocalMonitor::take_news() {
  if (!witness_) return;  // it was asked for before the end
  monitor::Witness::News news = witness_->take();
  std::ranges::move(news.intents, std::back_inserter(waiting_));
  tree_ = std::move(news.tree);
  record_.take_untold(news.untold);
  record_some(kMostATurn);
  if (!waiting_.empty()) asio::post(executor_, [this] { take_news(); });
}

void LocalMonitor::record_some(std::size_t most) {
  for (; tree_ && most > 0 && !waiting_.empty(); --most) {
    const auto seen = monitor::foresee(waiting_.front(), {.root = tree_->root,
                                                          .rules = fences_.paths,
                                                          .has_landlock = fences_.landlock_abi > 0,
                                                          .mounts = mounts_});
    waiting_.pop_front();
    if (seen && monitor::is_of(classes_, *seen)) record_.take(*seen);
  }
  record_.write();
}

void LocalMonitor::end() {
  if (!witness_) return;
  witness_->join();
  gathered_.cancel();
  take_news();
  record_some(waiting_.size());
  // What the sandbox had mounted goes with the last who holds it.
  witness_.reset();
  tree_.reset();
}

}  // namespace cordon::node
