// SPDX-License-Identifier: Apache-2.0
// Lists by the indexes of cells: one question for each, in place of one for each node.
#include <algorithm>
#include <map>
#include <utility>

#include "async/scope.h"
#include "fleet/gateway.h"
#include "fleet/index_list.h"

namespace cordon::fleet {
namespace {

constexpr std::chrono::milliseconds kIndexWithin{2'000};
constexpr std::size_t kLargestCellPart = std::size_t{16} << 20U;  // of a list, of one cell

// One question to each, beside each other.
struct IndexRound {
  Indexes& indexes;
  std::map<std::uint16_t, OwnQuestion> to;
};
using IndexAnswers = std::map<std::uint16_t, Result<Nodes::Answer>>;

asio::awaitable<void> ask_index(IndexRound& round, std::uint16_t cell, IndexAnswers& answers) {
  auto answer = co_await round.indexes.ask(cell, std::move(round.to.at(cell)), kIndexWithin);
  answers.emplace(cell, std::move(answer));
}

async::Task<IndexAnswers> ask_indexes(IndexRound round) {
  co_return co_await async::in_scope(
      [](async::Scope& scope, IndexRound& held) -> async::Task<IndexAnswers> {
        IndexAnswers answers;
        for (const auto& [cell, question] : held.to) scope.spawn(ask_index(held, cell, answers));
        co_await scope.join();
        co_return answers;
      },
      std::move(round));
}

// "1.2 1.5"
std::vector<NodeId> nodes_in(std::string_view text) {
  std::vector<NodeId> nodes;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (const auto node = node_named(name)) nodes.push_back(*node);
  }
  return nodes;
}

}  // namespace

async::Task<std::vector<Gateway::Part>> Gateway::parts_of_indexes(Asked& asked, std::string path,
                                                                  std::vector<NodeId>& left) {
  std::map<std::uint16_t, std::vector<NodeMark>> marks;
  for (const NodeId node : left) {
    if (!parts_.indexes.has(node.cell)) continue;
    // Whoever was told by us of a sandbox finds it in the list.
    marks[node.cell].push_back({node, parts_.nodes.roster().heard_of(node)});
  }
  IndexRound round{parts_.indexes, {}};
  for (const auto& [cell, of_cell] : marks) {
    CO_TRY(const std::string token,
           parts_.reissue.for_index(asked.bearer, cell, parts_.clock.wall()));
    http::Fields fields{{"Authorization", "Bearer " + token},
                        {std::string{kMarksField}, to_text(of_cell)}};
    if (!asked.tenant.empty()) fields.push_back({std::string{kTenantField}, asked.tenant});
    round.to.emplace(cell, OwnQuestion{.method = "GET",
                                       .path = path,
                                       .fields = std::move(fields),
                                       .body = {},
                                       .most = kLargestCellPart});
  }
  CO_TRY(IndexAnswers answers, co_await ask_indexes(std::move(round)));
  std::vector<Part> parts;
  for (auto& [cell, answer] : answers) {
    // What it does not answer whole, the nodes do: their refusals are the client's too.
    if (!answer || answer->status != 200) continue;
    const bool is_e2b_cut = asked.way.is_e2b && http::count(answer->fields, "x-next-token") != 0;
    if (is_e2b_cut) continue;
    const std::vector<NodeId> missing =
        nodes_in(http::only(answer->fields, kUnansweredField).value_or(""));
    Part part{{}, std::move(answer)};
    for (const NodeMark& mark : marks.at(cell)) {
      if (std::ranges::find(missing, mark.node) == missing.end()) part.nodes.push_back(mark.node);
    }
    std::erase_if(left,
                  [&part](NodeId node) { return std::ranges::binary_search(part.nodes, node); });
    ++counts_.lists_by_index;
    if (!part.nodes.empty()) parts.push_back(std::move(part));
  }
  co_return parts;
}

}  // namespace cordon::fleet
