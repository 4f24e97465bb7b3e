// SPDX-License-Identifier: Apache-2.0
// The refusals that one sandbox has met: each once, with how often.
#pragma once

#include <algorithm>
#include <vector>

#include "record/denial.h"

namespace cordon::node {

class DenialBook {
 public:
  // Whoever is inside chooses how many there are.
  static constexpr std::size_t kMost = 1024;

  // True: there was none like it before.
  bool add(const Denial& denial) {
    const auto known = std::ranges::find_if(all_, [&](const Denial& held) {
      return held.code == denial.code && held.tried == denial.tried;
    });
    if (known != all_.end()) {
      known->count += denial.count;
      return false;
    }
    if (all_.size() == kMost) return false;
    all_.push_back(denial);
    return true;
  }
  std::vector<Denial> take() { return std::move(all_); }

 private:
  std::vector<Denial> all_;
};

}  // namespace cordon::node
