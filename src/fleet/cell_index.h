// SPDX-License-Identifier: Apache-2.0
// What the nodes of one cell have: as each has told it, for lists of all of them and for counting
// (pure).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fleet/node_id.h"
#include "fleet/summary.h"

namespace cordon::fleet {

// Of a name that another node has made.
enum class Guest : std::uint8_t {
  nobody,    // nobody has made it
  stranger,  // it did not come to this node, as far as is known yet: it counts, and no list has it
  known,     // it was moved there
};

// Soft state: all of it is told again by the nodes. Used from one thread.
class CellIndex {
 public:
  struct Row {
    std::string tenant;
    std::map<std::string, std::string> labels;
    std::string text;  // as API v1 shows it, but for `shared`; empty: no list has it
    std::shared_ptr<const std::string> shared;  // what is alike in many: one for all of them
    std::string e2b;                            // as E2B's lists have it; empty: they have not
    bool is_paused = false;
    std::string unit;        // by which it was allowed; empty: by none
    bool is_counted = true;  // in its tenant's quota
    bool is_guest = false;   // another node has made its name
  };
  using Rows = std::map<std::string, Row, std::less<>>;  // by id

  // What one node may have told at most, and again while it tells anew: a node of 1,000 slots has
  // 1,000 rows of some kilobytes.
  struct Bounds {
    std::size_t rows = 65'536;
    std::size_t bytes = std::size_t{64} << 20U;
  };

  // Whether that node can have made up that name.
  using IsOf = std::function<bool(std::string_view id, NodeId node)>;
  // As it is known now.
  using GuestOf = std::function<Guest(std::string_view id, NodeId node)>;
  // One that was allowed by a unit is counted from now on, or was and is gone.
  using Settled = std::function<void(const std::string& tenant, const std::string& unit)>;

  CellIndex(IsOf is_of, Settled settled, GuestOf guest_of = {})
      : is_of_{std::move(is_of)}, settled_{std::move(settled)}, guest_of_{std::move(guest_of)} {}
  CellIndex(IsOf is_of, Settled settled, Bounds bounds)
      : is_of_{std::move(is_of)}, settled_{std::move(settled)}, bounds_{bounds} {}

  // A node begins to tell all that it has. What it has told before stays until it has told all.
  void begin(NodeId node);
  // A line of it. `invalid`: no node says that, or so much; then it is to begin anew. True: all was
  // said up to here.
  Result<bool> took(NodeId node, std::string_view line, Ticks now);
  // It tells no more. What it had is believed, and is in no list.
  void broke_off(NodeId node);
  // It is dead.
  void forget(NodeId node);

  // All that the node had said by `at`, or later, is here, and it goes on telling.
  bool has(NodeId node, const Stamp& at) const;
  // When it last said that all was said; nothing: never since begin().
  std::optional<Ticks> read_at(NodeId node) const;

  std::uint64_t count(const std::string& tenant) const;
  // Whether it is to be in a list of what that node has.
  bool is_there(std::string_view id, const Row& row, NodeId node) const {
    return !row.is_guest || guest_of(id, node) == Guest::known;
  }
  const Rows* rows(NodeId node) const;
  std::size_t size() const noexcept;

 private:
  struct Told {
    Rows rows;
    std::optional<Rows> fresh;  // what is told since begin(), until all was said
    std::size_t bytes = 0;      // of `rows`
    std::size_t fresh_bytes = 0;
    Stamp at{};
    std::optional<Ticks> read_at;
  };
  Status put(Told& told, std::string id, Row row);
  void remove(Told& told, std::string_view id);
  void count_one(const Row& row, bool is_more);
  void settle(const Row& row);
  std::shared_ptr<const std::string> shared(std::string text);

  Guest guest_of(std::string_view id, NodeId node) const {
    return guest_of_ ? guest_of_(id, node) : Guest::nobody;
  }

  IsOf is_of_;
  Settled settled_;
  GuestOf guest_of_;
  Bounds bounds_;
  std::map<NodeId, Told> told_;
  std::map<std::string, std::uint64_t> counts_;  // by tenant
  std::map<std::string, std::weak_ptr<const std::string>, std::less<>> shared_;
  std::size_t look_at_ = 0;  // so many texts: for those that nobody has any more
};

}  // namespace cordon::fleet
