// SPDX-License-Identifier: Apache-2.0
#include "etcd/client.h"

#include <algorithm>
#include <utility>

#include "etcd/codec.h"
#include "etcd/sleep.h"
#include "etcd/status.h"

namespace cordon::etcd {
namespace {

constexpr const char* kRange = "/etcdserverpb.KV/Range";
constexpr const char* kPut = "/etcdserverpb.KV/Put";
constexpr const char* kDeleteRange = "/etcdserverpb.KV/DeleteRange";
constexpr const char* kTxn = "/etcdserverpb.KV/Txn";
constexpr const char* kGrant = "/etcdserverpb.Lease/LeaseGrant";
constexpr const char* kRevoke = "/etcdserverpb.Lease/LeaseRevoke";

Client::Limit left_until(SteadyClock::time_point end) {
  return std::chrono::duration_cast<Client::Limit>(end - SteadyClock::now());
}

}  // namespace

Client::Client(Transport& transport, std::size_t first)
    : transport_{transport}, members_{transport.members(), first} {}

async::Task<std::string> Client::once(const char* method, std::string request, Limit limit) {
  const std::size_t member = members_.now();
  auto answer = co_await transport_.call(member, method, std::move(request), limit);
  if (!answer && is_passing(answer.error().code())) members_.failed(member);
  co_return answer;
}

async::Task<std::string> Client::until_answered(const char* method, std::string request,
                                                Limit limit) {
  const auto end = SteadyClock::now() + limit;
  Pause pause;
  for (;;) {
    auto answer = co_await once(method, request, std::min(left_until(end), Client::kOneMember));
    if (answer || !is_passing(answer.error().code())) co_return answer;
    const Limit wait = pause.next();
    if (wait >= left_until(end)) co_return answer;
    co_await sleep(wait);
  }
}

async::Task<Found> Client::range(Range range, Limit limit) {
  CO_TRY(const std::string answer, co_await until_answered(kRange, encode(range), limit));
  co_return decode_found(answer);
}

async::Task<void> Client::grant(LeaseId id, std::chrono::seconds ttl, Limit limit) {
  const auto answer = co_await until_answered(kGrant, encode_grant(id, ttl), limit);
  if (!answer && answer.error().code() != Errc::exists) co_return answer.error();
  co_return Status{};
}

async::Task<void> Client::revoke(LeaseId id, Limit limit) {
  const auto answer = co_await until_answered(kRevoke, encode_revoke(id), limit);
  if (!answer && answer.error().code() != Errc::not_found) co_return answer.error();
  co_return Status{};
}

async::Task<Written> Client::put(Put put, Limit limit) {
  CO_TRY(const std::string answer, co_await once(kPut, encode(put), limit));
  co_return decode_written(answer);
}

async::Task<Removed> Client::remove(Remove remove, Limit limit) {
  CO_TRY(const std::string answer, co_await once(kDeleteRange, encode(remove), limit));
  co_return decode_removed(answer);
}

async::Task<Decided> Client::txn(Txn txn, Limit limit) {
  CO_TRY(const std::string answer, co_await once(kTxn, encode(txn), limit));
  co_return decode_decided(answer);
}

Client::Opened Client::open(const char* method) {
  const std::size_t member = members_.now();
  return {.stream = transport_.open(member, method), .member = member};
}

}  // namespace cordon::etcd
