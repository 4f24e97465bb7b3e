// SPDX-License-Identifier: Apache-2.0
#include "node/monitor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "base/log.h"
#include "hash/sha256.h"
#include "os/cgroup_number.h"
#include "recorder/kernel/layout.h"

namespace cordon::node {
namespace {

// Of one turn of the loop.
constexpr std::size_t kMostEventsAtOnce = 512;
// In which events gather: the kernel wakes us once for all of them.
constexpr std::chrono::milliseconds kEventsGather{10};
constexpr std::chrono::seconds kBetweenUntold{1};

// By which a later node finds the group of a sandbox again.
std::uint64_t tag_of(const SandboxId& id) {
  const Digest digest = sha256({as_bytes(id.text())});
  std::uint64_t tag = 0;
  std::memcpy(&tag, digest.data(), sizeof tag);
  return tag;
}

}  // namespace

// --- one sandbox

MonitorShare::~MonitorShare() { monitor_.shares_.erase(group_); }

void MonitorShare::listen_to(sandbox::Sandbox& sandbox) {
  if (!ear_) return;
  sandbox.when_traced([weak = std::weak_ptr{ear_}](const frame::Traced& traced) {
    if (const auto ear = weak.lock()) ear->take(traced);
  });
}

std::vector<Denial> MonitorShare::end() {
  monitor_.end(*this);
  return record_.take_denials();
}

// --- all of them

Result<std::unique_ptr<Monitor::Recorder>> Monitor::recorder_of(std::vector<os::Fd> parts) const {
  TRY(recorder::WatchTable table, recorder::WatchTable::open(parts.at(0)));
  TRY(recorder::EventRing ring, recorder::EventRing::open(parts.at(1), CORDON_RING_BYTES));
  TRY(os::Fd news, os::duplicate(parts.at(1)));
  return std::make_unique<Recorder>(std::move(parts), std::move(table), std::move(ring),
                                    asio::posix::stream_descriptor{executor_, news.release()});
}

async::Task<void> Monitor::begin() {
  auto parts = co_await open_({});
  if (!parts) {
    log(LogLevel::warning, "node", "what happens inside of sandboxes is not seen",
        {{"why", parts.error().text()}});
    co_return Status{};
  }
  CO_TRY(recorder_, recorder_of(*std::move(parts)));
  waits_ = true;
  co_return Status{};
}

void Monitor::forget_strangers() {
  waits_ = false;
  waiting_.clear();
  if (!recorder_) return;
  for (const recorder::WatchTable::Watched& watched : recorder_->table.all()) {
    if (!shares_.contains(watched.group)) recorder_->table.forget(watched.group);
  }
}

async::Task<void> Monitor::deposit() {
  if (!recorder_) co_return Status{};
  std::vector<os::Fd> copies;
  copies.reserve(recorder_->parts.size());
  for (const os::Fd& part : recorder_->parts) {
    CO_TRY(os::Fd copy, os::duplicate(part));
    copies.push_back(std::move(copy));
  }
  CO_TRY_DO(co_await open_(std::move(copies)));
  co_return Status{};
}

asio::awaitable<void> Monitor::keep() {
  if (!recorder_) co_return;
  asio::steady_timer pause{executor_};
  auto last_look = std::chrono::steady_clock::now();
  while (true) {
    if (drain(kMostEventsAtOnce)) {
      co_await asio::post(executor_, asio::use_awaitable);
      continue;
    }
    if (const auto now = std::chrono::steady_clock::now(); now - last_look >= kBetweenUntold) {
      look_for_untold();
      last_look = now;
    }
    pause.expires_after(kEventsGather);
    co_await pause.async_wait(asio::use_awaitable);
    co_await recorder_->news.async_wait(asio::posix::stream_descriptor::wait_read,
                                        asio::use_awaitable);
  }
}

bool Monitor::drain(std::size_t most) {
  std::vector<MonitorShare*> touched;
  const bool is_more = recorder_->ring.read(most, [&](std::span<const std::byte> bytes) {
    auto seen = monitor::read_seen(bytes);
    if (!seen) return;
    const auto found = shares_.find(seen->group);
    if (found == shares_.end()) {
      if (waits_) waiting_[seen->group].push_back(*std::move(seen));
      return;
    }
    MonitorShare* const share = found->second;
    if (!share->record_.has_unwritten()) touched.push_back(share);
    share->record_.take(*seen);
  });
  for (MonitorShare* share : touched) share->record_.write();
  return is_more;
}

void Monitor::look_for_untold() {
  for (const auto& [group, share] : shares_) {
    share->record_.take_untold(recorder_->table.untold(group));
    share->record_.write();
  }
}

void Monitor::end(MonitorShare& share) {
  if (share.ear_) return share.record_.write();
  const recorder::Untold untold = recorder_->table.forget(share.group_);
  drain(std::numeric_limits<std::size_t>::max());
  share.record_.take_untold(untold);
  share.record_.write();
}

Result<std::unique_ptr<MonitorShare>> Monitor::share(std::uint64_t group, const SandboxId& id,
                                                     audit::Subject subject,
                                                     const plan::Lowered& lowered) {
  TRY(SeenRecord record, SeenRecord::of(log_, std::move(subject), lowered));
  TRY_DO(
      recorder_->table.watch(group, {.tag = tag_of(id),
                                     .classes = monitor::classes_of(lowered.enforcement.reported),
                                     .per_second = per_second_}));
  record.know(recorder_->table.untold(group));
  std::unique_ptr<MonitorShare> own{new MonitorShare{*this, group, std::move(record)}};
  shares_[group] = own.get();
  if (const auto waiting = waiting_.find(group); waiting != waiting_.end()) {
    for (const monitor::Seen& seen : waiting->second) own->record_.take(seen);
    waiting_.erase(waiting);
    own->record_.write();
  }
  return own;
}

// It needs no recorder: what is told comes with what the guest says.
Result<std::unique_ptr<MonitorShare>> Monitor::share_by_engine(audit::Subject subject,
                                                               const plan::Lowered& lowered) {
  TRY(SeenRecord record, SeenRecord::of(log_, std::move(subject), lowered));
  std::unique_ptr<MonitorShare> own{new MonitorShare{*this, 0, std::move(record)}};
  own->ear_ = std::make_shared<EngineEar>(lowered, own->record_, per_second_);
  return own;
}

Result<std::unique_ptr<MonitorShare>> Monitor::watch(const SandboxId& id, audit::Subject subject,
                                                     const plan::Lowered& lowered,
                                                     const std::vector<std::string>& groups) {
  if (lowered.enforcement.reported.empty()) return std::unique_ptr<MonitorShare>{};
  if (lowered.plan.traced) return share_by_engine(std::move(subject), lowered);
  const auto group = os::cgroup_number(groups);
  if (!recorder_ || !group) {
    return Error{Errc::unavailable, "monitor: what happens in the sandbox would not be seen"};
  }
  return share(*group, id, std::move(subject), lowered);
}

Result<std::unique_ptr<MonitorShare>> Monitor::watch_again(const SandboxId& id,
                                                           audit::Subject subject,
                                                           const plan::Lowered& lowered) {
  if (lowered.enforcement.reported.empty()) return std::unique_ptr<MonitorShare>{};
  if (lowered.plan.traced) return share_by_engine(std::move(subject), lowered);
  const auto all =
      recorder_ ? recorder_->table.all() : std::vector<recorder::WatchTable::Watched>{};
  const auto found = std::ranges::find(all, tag_of(id), &recorder::WatchTable::Watched::tag);
  if (found == all.end()) {
    return Error{Errc::unavailable, "monitor: what happens in the sandbox is not seen any more"};
  }
  return share(found->group, id, std::move(subject), lowered);
}

}  // namespace cordon::node
