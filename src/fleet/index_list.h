// SPDX-License-Identifier: Apache-2.0
// A list of what some nodes of a cell have, in the forms of a node's own (pure).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/cell_index.h"
#include "fleet/node_id.h"

namespace cordon::fleet {

// A node, and how much of what it said is to be in the list at least.
struct NodeMark {
  NodeId node;
  Stamp at{};
  friend bool operator==(const NodeMark&, const NodeMark&) = default;
};
// "2:3.17 5:1.0", of nodes of one cell: in the header of a question to its index.
inline constexpr std::string_view kMarksField = "Cordon-Nodes";
std::string to_text(const std::vector<NodeMark>& marks);
Result<std::vector<NodeMark>> read_marks(std::string_view text, std::uint16_t cell);
// With which an index says which of them its answer does not have: "1.2 1.5".
inline constexpr std::string_view kUnansweredField = "Cordon-Unanswered";

// As nodes have it.
inline constexpr std::uint64_t kUsualRows = 100;
inline constexpr std::uint64_t kMostRows = 1000;
// Of all rows of an answer, however few: what is behind them is another page.
inline constexpr std::size_t kLargestList = std::size_t{15} << 20U;

struct ListAsk {
  std::vector<NodeId> nodes;  // whose sandboxes
  std::string tenant;         // empty: of all
  std::function<bool(const std::string& tenant, const std::string& id)> may;
  std::map<std::string, std::string> labels;  // all of them hold
  std::string after;                          // behind that id
  std::size_t most = 0;
  // Of E2B's: empty, or the states that are asked for.
  std::optional<std::string> states{};
};

struct Listed {
  std::string rows;  // of JSON, a comma between two
  std::string last;  // the id of the last, where there are more; else empty
};
// In the order of their ids. Before: the index has all of `nodes`.
Listed list_rows(const CellIndex& index, const ListAsk& ask);
Listed list_e2b_rows(const CellIndex& index, const ListAsk& ask);

}  // namespace cordon::fleet
