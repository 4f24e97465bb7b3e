// SPDX-License-Identifier: Apache-2.0
// Which member of the cluster is asked next.
#pragma once

#include <cstddef>

namespace cordon::etcd {

// Stays with one as long as it answers: it has a connection. Used from the loop's thread only.
class Members {
 public:
  // Before: count > 0. `first` spreads clients over the members.
  Members(std::size_t count, std::size_t first) : count_{count}, now_{first % count} {}

  std::size_t now() const noexcept { return now_; }
  // `member` did not answer. Of many calls that fail with it, one moves on.
  void failed(std::size_t member) noexcept {
    if (member == now_) now_ = (now_ + 1) % count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  std::size_t count_;
  std::size_t now_;
};

}  // namespace cordon::etcd
