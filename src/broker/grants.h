// SPDX-License-Identifier: Apache-2.0
// Who may use which secret for what: the decision, without clock or socket.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/minute_window.h"
#include "base/result.h"
#include "broker/secret.h"
#include "frame/broker.h"
#include "policy/url_path.h"

namespace cordon::broker {

// The header of one request. Points into the grants: good until they change.
struct Allowed {
  std::string_view header;
  const Secret* secret = nullptr;
};

struct Refusal {
  frame::SecretVerdict code = frame::SecretVerdict::cred_unknown;
  std::string_view text;  // for a person; a constant
};

struct RevokedGrant {
  std::string tenant;
  std::string sandbox;
  std::string grant;
  friend bool operator==(const RevokedGrant&, const RevokedGrant&) = default;
};

class Grants {
 public:
  // Of those that are good and those that were: what was revoked or has expired is remembered, so
  // that a late question gets its reason, as long as there is room.
  static constexpr std::size_t kMost = 16'384;

  explicit Grants(std::size_t most = kMost) : most_{most} {}

  // `invalid`: no binding of ours. `exists`: the sandbox is another tenant's. `exhausted`: too
  // many, or no more memory may be locked. A grant that is replaced has its secret wiped, and what
  // it used of its rate counts on.
  Status bind(const frame::BindGrant& wanted, Ticks now);

  // Those that were good until now. Their secrets are wiped.
  std::vector<RevokedGrant> revoke(const frame::RevokeGrants& which);

  // The same for those that were made of a secret which the tenant has in the store.
  std::vector<RevokedGrant> revoke_stored(std::string_view tenant, std::string_view name);

  // One request of an egress of `tenant`. A use counts for the rate when all else is right.
  std::variant<Allowed, Refusal> ask(std::string_view tenant, const frame::AskSecret& request,
                                     Ticks now);

  // Wipes what has expired. Gives when to come again; nothing: there is nothing to wait for.
  std::optional<Ticks> expire(Ticks now);

  std::size_t good() const noexcept { return good_; }

 private:
  enum class State : std::uint8_t { good, expired, revoked };
  struct Key {
    std::string sandbox;
    std::string grant;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    State state = State::good;
    std::string tenant;
    std::string host;
    std::uint16_t port = 443;
    std::vector<std::string> methods;
    policy::UrlPaths paths;
    std::string header;
    std::string stored;            // where the secret came from the store: its name
    std::optional<Secret> secret;  // while it is good
    Ticks expires;
    std::optional<MinuteWindow> rate;
  };

  template <class Meant>
  std::vector<RevokedGrant> revoke_if(Meant meant);
  Status check_room(const Key& key, std::string_view tenant);
  void end(Entry& entry, State state);
  static std::optional<std::string_view> out_of_scope(const Entry& entry,
                                                      const frame::AskSecret& request);

  std::size_t most_;
  std::map<Key, Entry> entries_;
  std::size_t good_ = 0;
};

}  // namespace cordon::broker
