// SPDX-License-Identifier: Apache-2.0
// What tokens have used up of their budgets: one account for each token that a budget was added to,
// in which all that is done with it, and with those derived from it, counts together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/minute_window.h"
#include "base/result.h"
#include "plan/lower.h"
#include "token/authority.h"

namespace cordon::node {

// What a living sandbox holds of one account.
struct Charge {
  token::Quantity quantity = token::Quantity::sandboxes;
  std::uint64_t amount = 0;
  token::RevocationId account{};
  friend bool operator==(const Charge&, const Charge&) = default;
};

// Used from the loop's thread only.
class Budgets {
  using Key = std::pair<token::RevocationId, token::Quantity>;
  using Held = std::map<Key, std::uint64_t>;

 public:
  // What a sandbox has taken; given back when this goes.
  class Share {
   public:
    Share() = default;
    Share(std::shared_ptr<Held> held, std::vector<Charge> charges);
    Share(Share&& other) noexcept = default;
    Share& operator=(Share&& other) noexcept;
    ~Share() { give_back(); }

    const std::vector<Charge>& charges() const noexcept { return charges_; }

   private:
    void give_back();
    std::shared_ptr<Held> held_;  // of the budgets and of all shares
    std::vector<Charge> charges_;
  };

  static constexpr std::size_t kMostWindows = 65'536;

  // `clock` outlives it.
  explicit Budgets(const Clock& clock) : clock_{clock} {}

  // For one sandbox. `exhausted`: which budget is spent, and what would help; nothing is taken
  // then. `unavailable`: a budget of a kind that is not counted.
  Result<Share> take(const token::Authority& authority, const plan::Lowered& lowered);
  // Of one that lives already: it is never refused.
  Share take_over(std::vector<Charge> charges) { return Share{held_, std::move(charges)}; }

  std::uint64_t held(const token::RevocationId& account, token::Quantity quantity) const;

 private:
  Status count_create(const token::Allowance& allowance);

  const Clock& clock_;
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
  std::map<token::RevocationId, MinuteWindow> windows_;  // of creates
};

}  // namespace cordon::node
