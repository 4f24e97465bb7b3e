// SPDX-License-Identifier: Apache-2.0
// What a person was asked, as a text that a client carries back: signed, bound to what was asked,
// and of use once. (pure)
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "token/mac.h"

namespace cordon::mcp::server {

class Consents {
 public:
  // More than so many questions at a time are none that a person answers: the oldest go.
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::minutes kLongest{15};

  // `key`: of this process, and of nothing else.
  explicit Consents(token::Secret key) : key_{std::move(key)} {}

  using Nonce = std::array<std::byte, 16>;
  // `question`: all that the answer is to hold for. `nonce`: nobody can guess it.
  std::string ask(const Nonce& nonce, std::string_view question, Ticks now);

  // Whether `state` is ours, for this question, and not used before. It is used up by this.
  // `denied`: why not.
  Status take(std::string_view state, std::string_view question, Ticks now);

 private:
  std::string tag_of(std::string_view nonce, std::string_view question) const;

  token::Secret key_;
  std::map<std::string, Ticks, std::less<>> open_;  // until when, by nonce
};

}  // namespace cordon::mcp::server
