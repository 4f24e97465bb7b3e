// SPDX-License-Identifier: Apache-2.0
#include "node/use_tally.h"

namespace cordon::node {

std::vector<NetworkUsed> UseTally::flush() {
  std::vector<NetworkUsed> told;
  told.reserve(counted_.size());
  for (auto& [kind, use] : counted_) told.push_back(std::move(use));
  counted_.clear();
  return told;
}

std::vector<NetworkUsed> UseTally::take(NetworkUsed use, Ticks now) {
  std::vector<NetworkUsed> told;
  if (each_.begins(now)) told = flush();
  if (each_.take()) {
    told.push_back(std::move(use));
    return told;
  }
  Kind kind{use.host, use.port, use.status, use.ended};
  if (counted_.size() >= kKinds && !counted_.contains(kind)) {
    kind = {"other hosts", 0, 0, use.ended};
  }
  NetworkUsed& all = counted_
                         .try_emplace(kind, NetworkUsed{.host = std::get<0>(kind),
                                                        .port = std::get<1>(kind),
                                                        .status = std::get<2>(kind),
                                                        .ended = use.ended,
                                                        .count = 0})
                         .first->second;
  all.bytes_out += use.bytes_out;
  all.bytes_in += use.bytes_in;
  all.count += use.count;
  return told;
}

}  // namespace cordon::node
