// SPDX-License-Identifier: Apache-2.0
#include "fleet/index_list.h"

#include <algorithm>
#include <charconv>
#include <queue>
#include <utility>

#include <fmt/format.h>

namespace cordon::fleet {
namespace {

struct RowsAt {
  CellIndex::Rows::const_iterator first;
  CellIndex::Rows::const_iterator second;
  NodeId node;
};

bool is_asked_for(const ListAsk& ask, const std::string& id, const CellIndex::Row& row) {
  if (!ask.tenant.empty() && row.tenant != ask.tenant) return false;
  const bool has_labels = std::ranges::all_of(ask.labels, [&](const auto& label) {
    const auto found = row.labels.find(label.first);
    return found != row.labels.end() && found->second == label.second;
  });
  return has_labels && ask.may(row.tenant, id);
}

// `add` gives the text of a row; empty: it is in no such list.
template <class Text>
Listed merged(const CellIndex& index, const ListAsk& ask, Text text) {
  const auto is_later = [](const RowsAt& one, const RowsAt& other) {
    return other.first->first < one.first->first;
  };
  std::priority_queue<RowsAt, std::vector<RowsAt>, decltype(is_later)> heads{is_later};
  for (const NodeId node : ask.nodes) {
    const CellIndex::Rows* const rows = index.rows(node);
    if (rows == nullptr) continue;
    const auto first = ask.after.empty() ? rows->begin() : rows->upper_bound(ask.after);
    if (first != rows->end()) heads.push({first, rows->end(), node});
  }
  Listed listed;
  std::string last;
  std::size_t count = 0;
  while (!heads.empty()) {
    auto [at, end, node] = heads.top();
    heads.pop();
    const auto& [id, row] = *at;
    std::string row_text = text(row);
    const bool is_shown =
        !row_text.empty() && is_asked_for(ask, id, row) && index.is_there(id, row, node);
    if (is_shown) {
      // One more than is asked for tells that there is more.
      if (count == ask.most || listed.rows.size() + row_text.size() > kLargestList) {
        listed.last = last;
        break;
      }
      if (count++ > 0) listed.rows += ',';
      listed.rows += row_text;
      last = id;
    }
    if (++at != end) heads.push({at, end, node});
  }
  return listed;
}

}  // namespace

std::string to_text(const std::vector<NodeMark>& marks) {
  std::string text;
  for (const NodeMark& mark : marks) {
    text += fmt::format("{}{}:{}.{}", text.empty() ? "" : " ", mark.node.node, mark.at.epoch,
                        mark.at.seq);
  }
  return text;
}

Result<std::vector<NodeMark>> read_marks(std::string_view text, std::uint16_t cell) {
  const Error refusal{Errc::invalid, fmt::format("{}: NODE:START.SEQ each", kMarksField)};
  std::vector<NodeMark> marks;
  const char* at = text.begin();
  const char* const end = text.end();
  const auto number = [&](auto& into, char behind) {
    const auto [stop, failure] = std::from_chars(at, end, into);
    if (failure != std::errc{}) return false;
    at = stop;
    if (behind == ' ' && at == end) return true;
    if (at == end || *at != behind) return false;
    ++at;
    return true;
  };
  while (at != end) {
    NodeMark mark{.node = {.cell = cell, .node = 0}};
    if (!number(mark.node.node, ':') || !number(mark.at.epoch, '.') || !number(mark.at.seq, ' ')) {
      return refusal;
    }
    marks.push_back(mark);
  }
  return marks;
}

Listed list_rows(const CellIndex& index, const ListAsk& ask) {
  return merged(index, ask, [](const CellIndex::Row& row) {
    if (row.text.empty() || !row.shared) return row.text;
    return fmt::format("{},\"enforcement\":{}}}",
                       std::string_view{row.text}.substr(0, row.text.size() - 1), *row.shared);
  });
}

Listed list_e2b_rows(const CellIndex& index, const ListAsk& ask) {
  return merged(index, ask, [&ask](const CellIndex::Row& row) {
    const std::string_view state = row.is_paused ? "paused" : "running";
    const bool is_wanted = !ask.states || ask.states->find(state) != std::string::npos;
    return is_wanted ? row.e2b : std::string{};
  });
}

}  // namespace cordon::fleet
