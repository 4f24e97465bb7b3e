// SPDX-License-Identifier: Apache-2.0
// Which tokens were taken back, in the whole fleet: nothing is admitted with them, and what goes on
// with them ends.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/values.h"
#include "token/chain.h"

namespace cordon::fleet {

using token::RevocationId;

struct Revocation {
  RevocationId id{};
  std::chrono::sys_seconds until{};  // from then on no token bears it that would hold
  friend bool operator==(const Revocation&, const Revocation&) = default;
};

// "/cordon/revocations/" and 32 hexadecimal digits, in the etcd of all cells; the value is the
// second until which it is kept.
inline constexpr std::string_view kRevocations = "/cordon/revocations/";
std::string key_of(const RevocationId& id);
std::string encode(const Revocation& revocation);
Result<Revocation> decode_revocation(std::string_view key, std::string_view value);

// Used from the loop's thread only.
class Revoked {
 public:
  explicit Revoked(const asio::any_io_executor& executor);

  bool has(const RevocationId& id) const { return held_.contains(id); }
  bool has_any(const std::vector<RevocationId>& ids) const;
  std::size_t size() const noexcept { return held_.size(); }

  // From etcd, from another gateway, or our own. One that was heard of is never taken away before
  // its time: a key that is gone takes nothing back.
  void add(const Revocation& revocation);
  // Keys below kRevocations.
  void took(std::span<const etcd::Event> events);
  void forget_useless(std::chrono::sys_seconds now);

  // Until one of them is there, or the caller is cancelled.
  asio::awaitable<void> until_any(std::vector<RevocationId> ids) const;

  // As lines of text, for the disk; lines that cannot be read are left out.
  std::string saved() const;
  void restore(std::string_view text);

 private:
  std::map<RevocationId, std::chrono::sys_seconds> held_;
  mutable asio::steady_timer news_;  // never fires: cancelled when one was added
};

// Follows them until it is cancelled or refused.
async::Task<void> follow_revocations(etcd::Client& client, Revoked& revoked);

}  // namespace cordon::fleet
