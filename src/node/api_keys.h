// SPDX-License-Identifier: Apache-2.0
// Long-lived keys of the API: each stands for an authority that the node keeps, and can be taken
// back without knowing it. The key itself is kept nowhere.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "journal/journal.h"
#include "node/revocations.h"
#include "token/authority.h"

namespace cordon::node {

struct ApiKey {
  std::string id;
  std::string tenant;  // empty: an operator's
  std::string label;
  WallTime created{};
  // No wider than what it was made with. Its last revocation id is the key's own: those of keys
  // that were made with it have it too.
  token::Authority authority{false};
};

// Used from the loop's thread only.
class ApiKeys {
 public:
  static constexpr std::size_t kMostOfATenant = 256;
  static constexpr std::size_t kLongestLabel = 128;

  // `known`: of the journal, as it was found; one that cannot be read is no key. `journal` and
  // `revocations` outlive it.
  ApiKeys(const asio::any_io_executor& executor, journal::Journal& journal,
          const Revocations& revocations, const std::vector<journal::KeyRow>& known);
  ApiKeys(const ApiKeys&) = delete;
  ApiKeys& operator=(const ApiKeys&) = delete;

  struct Order {
    std::string tenant;  // empty: an operator's key, which only an operator's authority makes
    std::string label;
    std::vector<token::Caveat> caveats;  // beside those of the maker
  };
  struct Made {
    std::shared_ptr<const ApiKey> key;
    std::string text;  // shown once
  };
  // When it returns it is on the disk. `exhausted`: the tenant has as many as it may, or the
  // caveats are too many.
  async::Task<Made> make(Order order, const token::Authority& maker, WallTime now);

  // Nothing: there is none. Whether it has expired, or what it was made with was revoked, is up to
  // the caller.
  std::shared_ptr<const ApiKey> find(std::string_view text) const;

  // In the order of their ids. `tenant` empty: of all.
  std::vector<std::shared_ptr<const ApiKey>> list(const std::string& tenant) const;

  // With all that were made with it. When it returns that is on the disk, and who waits has been
  // told. False: the tenant has none of that id.
  async::Task<bool> remove(std::string tenant, std::string id);

  // Until there is no such key any more, or the caller is cancelled.
  asio::awaitable<void> until_gone(std::string id);
  bool has(const std::string& id) const { return keys_.contains(id); }

 private:
  struct Held {
    std::shared_ptr<const ApiKey> key;  // of this and of those that look at it
    journal::Digest digest{};
  };
  async::Task<void> drop(std::vector<std::string> ids);
  // Ids of those that no request is served with any more.
  std::vector<std::string> useless(WallTime now) const;
  void forget(const std::string& id);

  journal::Journal& journal_;
  const Revocations& revocations_;
  std::map<std::string, Held> keys_;
  std::map<journal::Digest, std::string> ids_;
  asio::steady_timer news_;  // never fires: cancelled when one has gone
};

}  // namespace cordon::node
