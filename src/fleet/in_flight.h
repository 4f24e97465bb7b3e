// SPDX-License-Identifier: Apache-2.0
// How many requests are being served for whom, so that nobody has all of a gateway's connections.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cordon::fleet {

// Used from the loop's thread only.
class InFlight {
 public:
  class One {
   public:
    One(InFlight& house, std::string whose) : house_{&house}, whose_{std::move(whose)} {
      ++house_->counts_[whose_];
    }
    One(One&& other) noexcept
        : house_{std::exchange(other.house_, nullptr)}, whose_{std::move(other.whose_)} {}
    One& operator=(One&&) = delete;
    ~One() {
      if (house_ == nullptr) return;
      const auto found = house_->counts_.find(whose_);
      if (--found->second == 0) house_->counts_.erase(found);
    }

   private:
    InFlight* house_;
    std::string whose_;
  };

  // Nothing: there are `most` already.
  std::optional<One> begin(std::string whose, std::size_t most) {
    const auto found = counts_.find(whose);
    if (found != counts_.end() && found->second >= most) return std::nullopt;
    return One{*this, std::move(whose)};
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace cordon::fleet
