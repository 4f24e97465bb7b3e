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
  std::string tenant{};              // in whose account it is; empty: in nobody's
  friend bool operator==(const Revocation&, const Revocation&) = default;
};

// "/cordon/revocations/" and 32 hexadecimal digits, in the etcd of all cells; the value is the
// second until which it is kept, and the tenant in
// whose account it is.
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
  // So many a tenant has at most, as at a node.
  static constexpr std::size_t kMostOfATenant = 4096;
  bool has_room_for(const std::string& tenant) const;

  // From etcd, from another gateway, or our own. One that was heard of is never taken away before
  // its time: a key that is gone takes nothing back.
  void add(const Revocation& revocation);
  // Keys below kRevocations.
  void took(std::span<const etcd::Event> events);
  // Gives those that nobody needs any more.
  std::vector<RevocationId> forget_useless(std::chrono::sys_seconds now);

  // Until one of them is there, or the caller is cancelled.
  asio::awaitable<void> until_any(std::vector<RevocationId> ids) const;

  // As lines of text, for the disk.
  std::string saved() const;
  void restore(std::string_view text);

  // Whether all that was taken back by the start is here: from etcd, or from the disk. Before that
  // nobody is let in.
  void know() {
    is_known_ = true;
    news_.cancel();
  }
  asio::awaitable<void> until_known() const;

 private:
  struct Account {
    std::string tenant;
    std::size_t count = 0;
  };
  // There may be a million: of the tenant each has only a number.
  struct Held {
    std::chrono::sys_seconds until{};
    std::uint32_t account = 0;
  };
  std::uint32_t account_of(const std::string& tenant);

  std::map<RevocationId, Held> held_;
  std::vector<Account> accounts_{1};  // the first is nobody's
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  bool is_known_ = false;
  mutable asio::steady_timer news_;  // never fires: cancelled when one was added
};

// As lines of text; lines that cannot be read are left out.
std::string lines_of(const std::vector<Revocation>& revocations);
std::vector<Revocation> revocations_in(std::string_view text);

// Follows them until it is cancelled or refused.
async::Task<void> follow_revocations(etcd::Client& client, Revoked& revoked);

}  // namespace cordon::fleet
