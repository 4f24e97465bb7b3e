// SPDX-License-Identifier: Apache-2.0
// What the bearer of a verified token may do: the meet of all its caveats.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "token/caveat.h"
#include "token/chain.h"

namespace cordon::token {

struct Query {
  Operation operation = Operation::sandbox_read;
  std::string_view tenant{};  // whose thing is touched; empty: the node's, or of every tenant
  // The sandbox that is touched; for sandbox.create the one that it is made from within.
  std::optional<std::string_view> sandbox{};
  std::optional<std::string_view> path{};
};

// Which kind of caveat says no. `tenant` is answered as if the thing did not exist.
enum class Refuser : std::uint8_t { expiry, tenant, operation, sandbox, path };

struct Answer {
  std::optional<Refuser> by;
  std::string words;  // why not, and what to ask for; empty for a yes

  explicit operator bool() const noexcept { return !by; }
};

// A budget of one token in the chain. What was done with that token, or with any derived from it,
// counts together, in one account: making many tokens of one makes nothing more.
struct Allowance {
  Quantity quantity = Quantity::sandboxes;
  std::uint64_t most = 0;
  RevocationId account{};
  friend bool operator==(const Allowance&, const Allowance&) = default;
};

// One caveat, and the token that ends with it.
struct Narrowed {
  Caveat caveat;
  RevocationId id{};
};

// Begins with all that its kind may do; each caveat only takes away. A caveat about a thing also
// refuses what names no such thing: a token for one sandbox makes no other, a token for a
// directory starts no process that could read beside it.
class Authority {
 public:
  explicit Authority(bool is_operator) noexcept : is_operator_{is_operator} {}

  // `id`: of the token that ends with this caveat.
  void narrow(const Caveat& caveat, const RevocationId& id);

  Answer may(const Query& query, std::chrono::sys_seconds now) const;

  bool is_operator() const noexcept { return is_operator_; }
  // Nothing: an operator's token that is not bound to one, or one that may do nothing at all.
  const std::optional<std::string>& tenant() const noexcept { return tenant_; }
  bool is_for_nobody() const noexcept { return two_tenants_ || (!is_operator_ && !tenant_); }
  OperationSet operations() const noexcept { return operations_; }
  // Nothing: every sandbox of the tenant.
  const std::optional<std::set<SandboxId>>& sandboxes() const noexcept { return sandboxes_; }
  // All of them hold. Whoever opens a file opens it beneath each, following no link out of it.
  const std::vector<std::string>& paths() const noexcept { return paths_; }
  const std::vector<Allowance>& allowances() const noexcept { return allowances_; }
  // The smallest of those of this quantity; nothing: no limit by this token.
  std::optional<std::uint64_t> most(Quantity quantity) const noexcept;
  std::optional<std::chrono::sys_seconds> expires() const noexcept { return expires_; }
  bool is_expired(std::chrono::sys_seconds now) const noexcept {
    return expires_ && now >= *expires_;
  }

  bool has_ceiling() const noexcept { return !ceilings_.empty(); }
  // `asked` as far as every ceiling allows it. `invalid`: a ceiling is no policy; nothing is made
  // then.
  Result<policy::Policy> under_ceilings(const policy::Policy& asked,
                                        const policy::Registries& registries) const;

  // Of the token and of all that it was derived from, the oldest first: a revocation of any of them
  // ends what is being done with it.
  const std::vector<RevocationId>& revocations() const noexcept { return revocations_; }
  void add_revocation(const RevocationId& id) { revocations_.push_back(id); }
  // It was made of another right, with these: the oldest of all.
  void derived_from(const std::vector<RevocationId>& ids) {
    revocations_.insert(revocations_.begin(), ids.begin(), ids.end());
    shown_ = ids.size();
  }
  // Of what its bearer has shown, wherever that was; nothing: he has shown no token.
  std::optional<RevocationId> shown() const {
    if (revocations_.empty()) return std::nullopt;
    return shown_ == 0 ? revocations_.back() : revocations_[shown_ - 1];
  }

  // All that it was narrowed by, in their order: with them another is as narrow as this.
  const std::vector<Narrowed>& caveats() const noexcept { return caveats_; }

 private:
  struct Narrow;

  bool is_operator_;
  bool two_tenants_ = false;
  std::optional<std::string> tenant_;
  OperationSet operations_ = OperationSet::all();
  std::optional<std::set<SandboxId>> sandboxes_;
  std::vector<std::string> paths_;
  std::vector<std::string> ceilings_;
  std::vector<Allowance> allowances_;
  std::optional<std::chrono::sys_seconds> expires_;
  std::vector<RevocationId> revocations_;
  std::size_t shown_ = 0;  // so many of them are of another right, of which this one was made
  std::vector<Narrowed> caveats_;
};

}  // namespace cordon::token
