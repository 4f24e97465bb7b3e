// SPDX-License-Identifier: Apache-2.0
// A key that one process writes, so that no write of it is done twice, late, or over a newer one.
#pragma once

#include <functional>
#include <string>

#include "async/task.h"
#include "etcd/client.h"
#include "etcd/values.h"

namespace cordon::etcd {

// Each write names the revision that it replaces. A repetition that arrives late, after a newer
// write, finds another revision and does nothing. Used from the loop's thread, one write at a time.
class OwnKey {
 public:
  // True: what stands there may be replaced. It is asked of values that this object did not write:
  // of a predecessor, or of somebody who believes to be us.
  using MayReplace = std::function<bool(const KeyValue& standing)>;

  // `client` outlives it.
  OwnKey(Client& client, std::string key, MayReplace may_replace);

  // Repeats until it is known to be done. Before: no two values are alike. Errc::exists: what
  // stands there may not be replaced. Errc::not_found: there is no such lease.
  async::Task<void> write(std::string value, LeaseId lease, Client::Limit limit = Client::kLimit);

  // Where it still is as written last. Else it is another's, or gone: also well.
  async::Task<void> remove(Client::Limit limit = Client::kLimit);

  Revision revision() const noexcept { return known_; }

 private:
  enum class Seen : std::uint8_t { done, changed };
  Result<Seen> judge(const Decided& decided, const std::string& value, LeaseId lease);
  async::Task<Seen> attempt(std::string value, LeaseId lease);

  Client& client_;
  std::string key_;
  MayReplace may_replace_;
  Revision known_ = 0;
};

}  // namespace cordon::etcd
