// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a node tells the index of its cell, line by line, as what gateways and indexes
// say to each other of units and lists, and as the place of an index: they are refused, or what is
// counted is what is listed, no node speaks of another's, and nothing is more than its bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>

#include "base/bytes.h"
#include "fleet/cell_index.h"
#include "fleet/index_key.h"
#include "fleet/index_list.h"
#include "fleet/units_message.h"
#include "promise.h"
#include "wire/unit.h"

namespace {

using cordon::fuzz::broken;

namespace fleet = cordon::fleet;

constexpr fleet::NodeId kTold{1, 1};
constexpr fleet::NodeId kOther{1, 2};
constexpr cordon::Ticks kNow{std::chrono::seconds{1000}};
constexpr std::size_t kMostRows = 8;

bool is_json(const std::string& text) {
  boost::system::error_code error;
  static_cast<void>(boost::json::parse(text, error));
  return !error;
}

void check_row(const std::string& id, const fleet::CellIndex::Row& row, fleet::NodeId node) {
  if (!id.starts_with(node == kTold ? '1' : '2')) broken("a node speaks of its own alone");
  if (row.tenant.empty()) broken("a row is somebody's");
  if (row.e2b.empty()) return;
  if (boost::json::parse(row.e2b).at("sandboxID").as_string() != id) {
    broken("a row of E2B's is of the same sandbox");
  }
}

void check_counts(const fleet::CellIndex& index) {
  std::map<std::string, std::uint64_t> counts;
  for (const fleet::NodeId node : {kTold, kOther}) {
    const auto* const rows = index.rows(node);
    if (rows == nullptr) continue;
    if (rows->size() > kMostRows) broken("a node has no more rows than it may");
    for (const auto& [id, row] : *rows) {
      check_row(id, row, node);
      counts[row.tenant] += row.is_counted ? 1 : 0;
    }
  }
  for (const auto& [tenant, count] : counts) {
    if (index.count(tenant) != count) broken("what is counted is what is there");
  }
}

void check_index(const fleet::CellIndex& index) {
  check_counts(index);
  fleet::ListAsk ask{.nodes = {kTold, kOther},
                     .tenant = {},
                     .may = [](const std::string&, const std::string&) { return true; },
                     .labels = {},
                     .after = {},
                     .most = 3,
                     .states = "running"};
  for (const bool is_e2b : {false, true}) {
    const auto listed = is_e2b ? list_e2b_rows(index, ask) : list_rows(index, ask);
    if (!is_json("[" + listed.rows + "]")) broken("a list is JSON");
    if (listed.rows.size() > fleet::kLargestList) broken("a list is bounded");
  }
}

// Of two nodes in turn: a line that begins with a tab is the other's.
void as_census(std::string_view text) {
  const auto is_of = [](std::string_view id, fleet::NodeId node) {
    return id.starts_with(node == kTold ? '1' : '2');
  };
  const auto settled = [](const std::string& tenant, const std::string& unit) {
    if (unit.empty()) broken("what is settled is a unit");
    static_cast<void>(tenant);
    static_cast<void>(cordon::wire::read_unit(unit));
  };
  fleet::CellIndex index{is_of, settled, {.rows = kMostRows, .bytes = 1U << 14U}};
  index.begin(kTold);
  index.begin(kOther);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const fleet::NodeId node = line.starts_with('\t') ? kOther : kTold;
    if (node == kOther) line.remove_prefix(1);
    const auto took = index.took(node, line, kNow);
    if (took && *took && index.read_at(node) != kNow) broken("who has said all is read");
    if (took) continue;
    // As a reader does with one that says what no node says.
    index.broke_off(node);
    if (index.has(node, {})) broken("who was broken off is in no list");
    index.begin(node);
  }
  check_index(index);
  index.forget(kOther);
  check_index(index);
  index.forget(kTold);
  if (index.size() != 0) broken("nothing is left of nodes that are dead");
}

void as_units(std::string_view text) {
  if (const auto question = fleet::read_units_question(text)) {
    const auto again = fleet::read_units_question(fleet::to_json(*question));
    if (!again || *again != *question) broken("a question is the same once written");
  }
  if (const auto answer = fleet::read_units_answer(text)) {
    const auto again = fleet::read_units_answer(fleet::to_json(*answer));
    if (!again || *again != *answer) broken("an answer is the same once written");
  }
  if (const auto unit = cordon::wire::read_unit(text)) {
    const auto again = cordon::wire::read_unit(cordon::wire::to_text(*unit));
    if (!again || *again != *unit) broken("a unit is the same once written");
  }
}

void as_list(std::string_view text) {
  if (const auto marks = fleet::read_marks(text, 1)) {
    const auto again = fleet::read_marks(fleet::to_text(*marks), 1);
    if (!again || *again != *marks) broken("marks are the same once written");
  }
  if (const auto place = fleet::decode_index(text)) {
    const auto again = fleet::decode_index(fleet::encode(*place));
    if (!again || *again != *place) broken("a place is the same once written");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = cordon::as_text(std::as_bytes(std::span{data, size}));
  as_census(text);
  as_units(text);
  as_list(text);
  return 0;
}
