// SPDX-License-Identifier: Apache-2.0
// What can be asked of etcd in one call.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "async/task.h"
#include "etcd/members.h"
#include "etcd/transport.h"
#include "etcd/values.h"

namespace cordon::etcd {

// Used from the loop's thread only. Errors are error_of()'s: one that passes, of a write, says that
// nobody knows whether it was done, now or later. So what is written must bear being done twice, or
// carry its condition (own_key.h).
class Client {
 public:
  using Limit = std::chrono::milliseconds;
  static constexpr Limit kLimit{10'000};
  // Of one attempt where there are several. A member whose leader has died keeps what it is asked
  // until it knows a new one, and then drops it.
  static constexpr Limit kOneMember{1'000};

  // `transport` outlives it. `first` spreads clients over the members.
  explicit Client(Transport& transport, std::size_t first = 0);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Asked of one member after the other until one answers, for as long as `limit`: these may be
  // repeated. What is found is not older than the call.
  async::Task<Found> range(Range range, Limit limit = kLimit);
  // `id` is fresh and random, so a grant that was there already was ours. A ttl is what etcd makes
  // of the one that is asked for.
  async::Task<void> grant(LeaseId id, std::chrono::seconds ttl, Limit limit = kLimit);
  // The keys of the lease go with it. One that is not there is gone.
  async::Task<void> revoke(LeaseId id, Limit limit = kLimit);

  // Asked once.
  async::Task<Written> put(Put put, Limit limit = kLimit);
  async::Task<Removed> remove(Remove remove, Limit limit = kLimit);
  async::Task<Decided> txn(Txn txn, Limit limit = kLimit);

  // A stream to the member that is asked now. Whoever finds it silent says so: failed().
  struct Opened {
    std::unique_ptr<Stream> stream;
    std::size_t member = 0;
  };
  Opened open(const char* method);
  void failed(std::size_t member) noexcept { members_.failed(member); }

 private:
  async::Task<std::string> once(const char* method, std::string request, Limit limit);
  async::Task<std::string> until_answered(const char* method, std::string request, Limit limit);

  Transport& transport_;
  Members members_;
};

}  // namespace cordon::etcd
