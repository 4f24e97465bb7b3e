// SPDX-License-Identifier: Apache-2.0
// How much of the node each tenant has taken, and whether more is left.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "gate/release.h"
#include "node/settings.h"

namespace cordon::node {

struct Demand {
  std::uint64_t milli_cpus = 0;
  std::uint64_t memory = 0;
};

// Used from the loop's thread only.
class Quotas {
  struct Account {
    std::uint64_t sandboxes = 0;
    std::uint64_t milli_cpus = 0;
    std::uint64_t memory = 0;
    std::uint64_t requests = 0;
    double creates_left = 0;  // of this second's
    Ticks filled{};
    bool is_new = true;
  };

 public:
  // What a sandbox has taken; given back when this goes.
  class Share {
   public:
    Share() = default;
    Share(std::shared_ptr<Account> account, Demand demand);
    Share(Share&& other) noexcept = default;
    Share& operator=(Share&& other) noexcept;
    ~Share();

   private:
    void give_back();
    std::shared_ptr<Account> account_;
    Demand demand_;
  };

  // One request that is being served; given back when this goes.
  class Request {
   public:
    explicit Request(std::shared_ptr<Account> account) : account_{std::move(account)} {
      ++account_->requests;
    }
    Request(Request&& other) noexcept = default;
    Request& operator=(Request&&) = delete;
    ~Request() {
      if (account_) --account_->requests;
    }

   private:
    std::shared_ptr<Account> account_;
  };

  // Both outlive it.
  Quotas(const Settings& settings, const Clock& clock) : settings_{settings}, clock_{clock} {}

  // `exhausted`: which bound is reached, and what would help.
  Result<Share> take(const std::string& tenant, const Demand& demand);
  // Of one that lives already: it is never refused.
  Share take_over(const std::string& tenant, const Demand& demand);

  // `exhausted`: the tenant has as many as it may.
  Result<Request> begin_request(const std::string& tenant);

  std::uint64_t sandboxes_of(const std::string& tenant) const;

  // From here on nobody has more than it says either; nothing: as the settings say.
  void hold_against(std::shared_ptr<const gate::Release> release) { release_ = std::move(release); }

 private:
  std::shared_ptr<Account> account_of(const std::string& tenant);
  Quota quota_of(const std::string& tenant) const;
  Status count_create(Account& account, const Quota& quota, const std::string& tenant) const;

  const Settings& settings_;
  const Clock& clock_;
  std::shared_ptr<const gate::Release> release_;  // as Admission has it
  std::map<std::string, std::shared_ptr<Account>, std::less<>> accounts_;
};

}  // namespace cordon::node
