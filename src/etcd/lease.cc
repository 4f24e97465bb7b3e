// SPDX-License-Identifier: Apache-2.0
#include "etcd/lease.h"

#include <limits>
#include <random>

#include "async/deadline.h"
#include "etcd/codec.h"
#include "etcd/sleep.h"
#include "etcd/status.h"

namespace cordon::etcd {
namespace {

constexpr const char* kKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive";

// One question. What is returned is the time for which the answer is good.
async::Task<std::chrono::seconds> ask(Stream& stream, LeaseId lease,
                                      std::chrono::milliseconds patience) {
  stream.write(encode_keep_alive(lease));
  CO_TRY(const std::string bytes, co_await async::within(patience, stream.read()));
  CO_TRY(const Granted answer, decode_kept_alive(bytes));
  if (answer.ttl <= std::chrono::seconds{0}) {
    co_return Error{Errc::not_found, "etcd: the lease is gone"};
  }
  co_return answer.ttl;
}

}  // namespace

LeaseId fresh_lease_id() {
  std::random_device device;
  std::uniform_int_distribution<std::int64_t> any{1, std::numeric_limits<std::int64_t>::max()};
  return LeaseId{any(device)};
}

async::Task<void> keep_alive(Client& client, LeaseId lease, std::chrono::seconds ttl,
                             std::function<void(Ticks until)> kept) {
  const std::chrono::milliseconds third = std::chrono::milliseconds{ttl} / 3;
  Pause pause;
  Client::Opened now;
  for (;;) {
    if (!now.stream) now = client.open(kKeepAlive);
    // From when it was sent: how long the answer took is no time of the lease's.
    const Ticks asked = std::chrono::steady_clock::now();
    const auto good_for = co_await ask(*now.stream, lease, third);
    if (good_for) {
      pause.reset();
      kept(asked + *good_for);
      co_await sleep(third);
      continue;
    }
    if (!is_passing(good_for.error().code())) co_return good_for.error();
    now.stream.reset();  // an answer that is late belongs to a question that is not asked any more
    client.failed(now.member);
    co_await sleep(pause.next());
  }
}

async::Task<void> renew(Client& client, LeaseId lease, Client::Limit limit) {
  const Client::Opened now = client.open(kKeepAlive);
  const auto good_for = co_await ask(*now.stream, lease, limit);
  if (good_for) co_return Status{};
  if (is_passing(good_for.error().code())) client.failed(now.member);
  co_return good_for.error();
}

}  // namespace cordon::etcd
