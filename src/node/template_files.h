// SPDX-License-Identifier: Apache-2.0
// Files that clients send for the templates that they are about to build: kept for a while, and put
// into the sandbox of a build.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "async/task.h"
#include "http/exchange.h"
#include "node/archive_worker.h"
#include "node/resident.h"

namespace cordon::node {

// Used from the loop's thread only.
class TemplateFiles {
 public:
  // Of all tenants, beside the one that comes: the oldest make room. All together are no larger
  // than one tree may be (`transfers.bytes`).
  static constexpr std::size_t kMost = 256;

  // `state`: the node's own directory. `archives` outlives it.
  TemplateFiles(const std::string& state, Archives& archives)
      : directory_{state + "/uploads"}, archives_{archives} {}

  // `digest`: as its client made it; two templates share nothing.
  bool has(std::string_view template_id, std::string_view digest) const;
  // All of a body. `exhausted`: it is larger than what a tree may have.
  async::Task<void> take(http::Exchange& exchange, std::string_view template_id,
                         std::string_view digest);
  // Read by cordon-unpack, written inside with the rights of the workload.
  async::Task<void> put_inside(std::shared_ptr<Resident> resident, std::string_view template_id,
                               std::string_view digest, std::string directory);

 private:
  std::string path_of(std::string_view template_id, std::string_view digest) const;
  Status make_room() const;

  std::string directory_;
  Archives& archives_;
};

}  // namespace cordon::node
