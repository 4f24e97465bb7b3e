// SPDX-License-Identifier: Apache-2.0
// A node as the fleet sees it: it has slots, takes what fits, and says how it is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fleet/node_id.h"
#include "fleet/summary.h"

namespace cordon::simulation {

class Node {
 public:
  Node(fleet::NodeId id, std::uint32_t slots, std::uint16_t tenants, fleet::WarmSet warm)
      : id_{id}, slots_{slots}, of_tenant_(tenants), warm_{warm} {}

  fleet::NodeId id() const noexcept { return id_; }
  std::uint32_t epoch() const noexcept { return epoch_; }
  bool is_up() const noexcept { return is_up_; }
  bool is_full() const noexcept { return used_ >= slots_; }
  std::uint32_t used() const noexcept { return used_; }

  void begin(std::uint16_t tenant) {
    ++used_;
    ++of_tenant_[tenant];
  }
  // False: it was of an earlier start, and ended with that.
  bool end(std::uint16_t tenant, std::uint32_t epoch) {
    if (!is_up_ || epoch != epoch_) return false;
    --used_;
    --of_tenant_[tenant];
    return true;
  }
  // What it had, by tenant.
  std::vector<std::uint32_t> die();
  void start_anew() {
    is_up_ = true;
    ++epoch_;
  }

  // What it says now. Each is later than the one before.
  fleet::Gauge gauge() {
    return {.at = {epoch_, ++seq_}, .slots = slots_, .free = slots_ - used_, .warm = warm_};
  }
  fleet::Summary summary();
  // What stands in etcd under the lease that it has; nothing: it has none.
  std::optional<fleet::Summary> written;

 private:
  fleet::NodeId id_;
  std::uint32_t slots_;
  std::vector<std::uint32_t> of_tenant_;
  fleet::WarmSet warm_;
  std::uint32_t used_ = 0;
  std::uint32_t epoch_ = 1;
  std::uint64_t seq_ = 0;
  bool is_up_ = true;
};

}  // namespace cordon::simulation
