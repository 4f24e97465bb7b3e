// SPDX-License-Identifier: Apache-2.0
// Reads of every node of a cell what it has, for as long as the index of that cell acts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "fleet/cell_index.h"
#include "fleet/election.h"
#include "fleet/index_list.h"
#include "fleet/nodes.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class CensusReaders {
 public:
  // All outlive it. `client`: of the cell's etcd.
  CensusReaders(const asio::any_io_executor& executor, etcd::Client& client, std::uint16_t cell,
                Nodes& nodes, Election& election, CellIndex& index, const Clock& clock);
  CensusReaders(const CensusReaders&) = delete;
  CensusReaders& operator=(const CensusReaders&) = delete;

  // In `scope`; until it is cancelled.
  asio::awaitable<void> keep(async::Scope& scope);

  // Nothing: we do not act, or not yet by this number.
  std::optional<std::uint64_t> term() const;
  // The same also while it is in doubt for a moment whether we act: what was read is kept, and goes
  // on being read.
  std::optional<std::uint64_t> elected() const { return term_; }
  // Since when every node that may have something has told all of it, without a break; nothing:
  // not every one has. Who could not be read for kGivenUp is not waited for any more.
  std::optional<Ticks> all_read_at() const;
  // Those that are not dead and not read now; or have not been for `since` at least.
  std::vector<NodeId> unread(std::chrono::milliseconds since = {}) const;
  // Until all of them are there, or `limit` is over.
  asio::awaitable<void> until_has(const std::vector<NodeMark>& marks,
                                  std::chrono::milliseconds limit) const;

 private:
  // Without a line for so long it is not believed to tell anything any more.
  static constexpr std::chrono::seconds kSilence{4};
  // Lines alone are not all: for so long it may have more to tell than it has told.
  static constexpr std::chrono::seconds kWhole{10};
  static constexpr std::chrono::milliseconds kPause{500};
  static constexpr std::chrono::seconds kLongestPause{30};
  // As long as a node may be away before it is dead.
  static constexpr std::chrono::seconds kGivenUp{30};

  bool is_read(NodeId node, Ticks now) const;
  Ticks unread_since(NodeId node) const;
  void begin_term(std::optional<std::uint64_t> number);
  // Which nodes there are, by etcd's own word in this term: what is followed may lag behind.
  asio::awaitable<void> find_nodes(std::uint64_t term);
  asio::awaitable<void> read(NodeId node, std::uint64_t term);
  async::Task<void> read_lines(NodeId node, std::uint64_t term);
  // A node says that it has heard of a later index. More than half of them are believed.
  void overtaken_at(NodeId node);

  etcd::Client& client_;
  std::uint16_t cell_;
  Nodes& nodes_;
  Election& election_;
  CellIndex& index_;
  const Clock& clock_;
  std::optional<std::uint64_t> term_;
  Ticks term_began_{};
  std::optional<std::vector<NodeId>> found_;  // in this term
  struct Reader {
    bool is_running = false;
    Ticks not_before{};
    Ticks read_last{};                         // or when it came
    std::chrono::milliseconds pause = kPause;  // longer for one that says what no node says
  };
  std::map<NodeId, Reader> readers_;
  std::set<NodeId> ahead_of_us_;     // by their own word, in this term
  mutable asio::steady_timer news_;  // never fires: cancelled when a node has said all
};

}  // namespace cordon::fleet
