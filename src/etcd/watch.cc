// SPDX-License-Identifier: Apache-2.0
#include "etcd/watch.h"

#include <iterator>
#include <utility>

#include "async/deadline.h"
#include "etcd/codec.h"
#include "etcd/sleep.h"
#include "etcd/status.h"

namespace cordon::etcd {
namespace {

constexpr const char* kWatch = "/etcdserverpb.Watch/Watch";

// A member that says nothing for so long is asked whether it is there, and has as long to answer.
constexpr std::chrono::milliseconds kPatience{2000};

Error refusal(const std::string& reason) {
  const bool is_denied = reason.find("permission denied") != std::string::npos ||
                         reason.find("user name is empty") != std::string::npos;
  return Error{is_denied ? Errc::denied : Errc::unavailable, "etcd: watch: " + reason};
}

}  // namespace

Watch::Watch(Client& client, KeyRange keys, Revision from, std::uint64_t cluster)
    : client_{client}, keys_{std::move(keys)}, next_{from}, cluster_{cluster} {}

void Watch::connect() {
  now_ = client_.open(kWatch);
  now_.stream->write(encode_watch(keys_, next_));
  is_created_ = false;
  was_asked_ = false;
  batch_ = {};  // a part of it, whose rest is lost
}

void Watch::lose() {
  now_.stream.reset();
  client_.failed(now_.member);
}

Result<bool> Watch::take(WatchMessage message) {
  if (message.origin.cluster != cluster_) {
    return Error{Errc::not_found, "etcd: watch: this is another cluster"};
  }
  if (message.compacted != 0) {
    return Error{Errc::not_found,
                 "etcd: watch: compacted up to revision " + std::to_string(message.compacted)};
  }
  if (message.cancelled) return refusal(message.reason);
  if (message.created) {
    is_created_ = true;
    pause_.reset();
  }
  batch_.origin = message.origin;
  std::ranges::move(message.events, std::back_inserter(batch_.events));
  // Not from a message without events: before 3.4.25 a member may tell of a revision whose events
  // it has yet to send.
  if (message.part || batch_.events.empty()) return false;
  next_ = batch_.events.back().now.mod_revision + 1;
  return true;
}

async::Task<Watch::Batch> Watch::next() {
  for (;;) {
    if (!now_.stream) connect();
    auto bytes = co_await async::within(kPatience, now_.stream->read());
    if (!bytes && bytes.error().code() == Errc::timeout && is_created_ && !was_asked_) {
      was_asked_ = true;
      now_.stream->write(encode_progress());
      continue;
    }
    Status failure;
    if (bytes) {
      was_asked_ = false;
      CO_TRY(auto message, decode_watch(*bytes));
      const auto whole = take(std::move(message));
      if (whole && *whole) co_return std::exchange(batch_, {});
      if (whole) continue;
      failure = whole.error();
    } else {
      failure = bytes.error();
    }
    lose();
    if (!is_passing(failure.error().code())) co_return failure.error();
    co_await sleep(pause_.next());
  }
}

}  // namespace cordon::etcd
