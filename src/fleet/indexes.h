// SPDX-License-Identifier: Apache-2.0
// The indexes of all cells, as a gateway knows them: which one acts, and the way to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "fleet/index_key.h"
#include "fleet/node_answer.h"
#include "fleet/node_link.h"
#include "fleet/nodes.h"
#include "fleet/reissue.h"

namespace cordon::fleet {

// Used from the loop's thread only. Nothing depends on it but quotas: where no index is known, or
// none answers, nodes are asked.
class Indexes {
 public:
  // All outlive it.
  Indexes(LinkHouse& house, Reissue& reissue, const Clock& clock)
      : house_{house}, reissue_{reissue}, clock_{clock} {}
  Indexes(const Indexes&) = delete;
  Indexes& operator=(const Indexes&) = delete;

  // Follows which one acts in `cell`. Ends only with an error that does not pass, or cancelled.
  async::Task<void> follow(etcd::Client& client, std::uint16_t cell);

  // One is known, and has not been silent just now.
  bool has(std::uint16_t cell) const;
  // Which one it is; nothing: none is known to act.
  std::optional<std::uint64_t> number(std::uint16_t cell) const;
  // Until another than `number` acts, or `limit`. False: it is the same, or none.
  async::Task<bool> until_other(std::uint16_t cell, std::optional<std::uint64_t> number,
                                std::chrono::milliseconds limit) const;
  // `unavailable`: there is none, or it does not answer. Without fields: by our own right.
  async::Task<Nodes::Answer> ask(std::uint16_t cell, OwnQuestion question,
                                 std::chrono::milliseconds limit);
  void close_idle();

 private:
  // Whoever was silent is left alone for so long: lists do not wait for it each time.
  static constexpr std::chrono::milliseconds kSilent{1'000};
  struct One {
    std::optional<IndexPlace> place;
    std::unique_ptr<NodeLink> link;
    Ticks not_before{};
  };
  async::Task<Nodes::Answer> ask_now(std::uint16_t cell, OwnQuestion question);

  LinkHouse& house_;
  Reissue& reissue_;
  const Clock& clock_;
  std::map<std::uint16_t, One> ones_;
};

}  // namespace cordon::fleet
