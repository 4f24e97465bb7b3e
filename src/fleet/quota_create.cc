// SPDX-License-Identifier: Apache-2.0
// New sandboxes of a tenant with a quota of the fleet: each by a unit of the cell that it begins
// in.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fleet/gateway.h"

namespace cordon::fleet {
namespace {

wire::ProblemAnswer at_limit(const std::string& tenant, const QuotaLedger* ledger) {
  return {.status = 429,
          .code = "CORDON-FLEET-QUOTA",
          .detail = fmt::format("one more sandbox of {} was asked for, whose quota of the fleet is "
                                "{}, and no cell has a unit of it left",
                                tenant, ledger == nullptr ? 0 : ledger->total),
          .remedy = "end some; or have the operator give it more, by `cordon fleet quota`"};
}

wire::ProblemAnswer nobody_counts(const std::string& tenant, std::string_view why) {
  return {.status = 503,
          .code = "CORDON-FLEET-QUOTA-AWAY",
          .detail = fmt::format("{} has a quota of the fleet, and nobody counts for it now: {}",
                                tenant, why),
          .remedy = "send it again in a few seconds; if it stays so, start cordon-index"};
}

// Those of the tenant first; then the others, where nodes are.
std::vector<std::uint16_t> cells_for(const QuotaLedger& ledger, const std::vector<NodeId>& nodes) {
  std::vector<std::uint16_t> cells;
  for (const bool is_home : {true, false}) {
    for (const NodeId node : nodes) {
      const bool is_there = std::ranges::find(cells, node.cell) != cells.end();
      if (ledger.homes.contains(node.cell) == is_home && !is_there) cells.push_back(node.cell);
    }
  }
  return cells;
}

}  // namespace

async::Task<bool> Gateway::try_by_unit(Asked& asked, NodeId node, const std::string& body,
                                       Tried& tried) {
  const std::string tenant = owner_of(asked);
  const bool has_key = http::count(asked.exchange.head().fields, kIdempotencyField) != 0;
  const auto unit = co_await parts_.purses.take(tenant, node.cell);
  const std::vector<NodeId> unread = parts_.purses.unread(node.cell);
  const bool is_unread = std::ranges::find(unread, node) != unread.end();
  tried.unit.reset();
  tried.without_unit.reset();
  if (unit && !is_unread) {
    tried.unit = *unit;
  } else if (unit) {
    parts_.purses.give_back(tenant, node.cell, *unit);
    auto refusal = nobody_counts(
        tenant, fmt::format("the index of its cell does not read node {}", to_string(node)));
    if (!has_key) {
      // Another node may do.
      tried.nodes.push_back(node);
      tried.refusal = std::move(refusal);
      co_return false;
    }
    tried.without_unit = std::move(refusal);
  } else {
    const bool is_used_up = unit.error().code() == Errc::exhausted;
    tried.without_unit = is_used_up ? at_limit(tenant, parts_.purses.ledger(tenant))
                                    : nobody_counts(tenant, unit.error().text());
  }
  // Only a request that may have come before has something to be given.
  if (!tried.unit && !has_key) {
    tried.refusal = tried.without_unit;
    co_return false;
  }
  tried.is_unit_used = false;
  tried.is_unit_void = false;
  auto answered = co_await try_create(asked, node, body, tried);
  if (tried.unit && !tried.is_unit_used) parts_.purses.give_back(tenant, node.cell, *tried.unit);
  co_return answered;
}

async::Task<bool> Gateway::try_within_quota(Asked& asked, NodeId node, const std::string& body,
                                            Tried& tried) {
  // The node has been read by an index since that we have not heard of yet: the next unit is of
  // that one.
  constexpr int kMostVoid = 2;
  for (int again = 0;; ++again) {
    CO_TRY(const bool was_answered, co_await try_by_unit(asked, node, body, tried));
    if (!tried.unit || !tried.is_unit_void) co_return was_answered;
    parts_.purses.drop(node.cell, *tried.unit);
    if (again < kMostVoid) {
      tried.nodes.pop_back();
      continue;
    }
    tried.refusal = nobody_counts(owner_of(asked),
                                  fmt::format("node {} does not take what the index of its cell "
                                              "has allowed",
                                              to_string(node)));
    // With a key it is that node or none.
    tried.is_final = http::count(asked.exchange.head().fields, kIdempotencyField) != 0;
    co_return false;
  }
}

async::Task<bool> Gateway::try_in_cell(Asked& asked, std::uint16_t cell, const std::string& body,
                                       Tried& tried) {
  while (tried.nodes.size() < kMostTries) {
    Roster& roster = parts_.nodes.roster();
    std::vector<NodeId> without = parts_.purses.unread(cell);
    without.insert(without.end(), tried.nodes.begin(), tried.nodes.end());
    auto node = roster.choose("", without, cell);
    if (!node) node = roster.choose_full(without, cell);
    if (!node) break;
    CO_TRY(const bool was_answered, co_await try_within_quota(asked, *node, body, tried));
    if (was_answered) co_return true;
    // Another node of the cell has no other units.
    if (tried.without_unit || tried.is_final) break;
  }
  co_return false;
}

async::Task<void> Gateway::create_within_quota(Asked& asked, const std::string& body,
                                               const std::vector<NodeId>& order) {
  Tried tried;
  for (const NodeId node : order) {
    CO_TRY(const bool was_answered, co_await try_within_quota(asked, node, body, tried));
    if (was_answered) co_return Status{};
    if (tried.is_final || tried.nodes.size() >= kMostTries) break;
  }
  if (!order.empty()) co_return co_await answer_problem(asked, tried.refusal.value_or(no_room()));
  const QuotaLedger* const ledger = parts_.purses.ledger(owner_of(asked));
  // That nobody counts is said before all else: whether there are units left is not known then.
  std::optional<wire::ProblemAnswer> nobody;
  for (const std::uint16_t cell : cells_for(ledger ? *ledger : QuotaLedger{}, living())) {
    CO_TRY(const bool was_answered, co_await try_in_cell(asked, cell, body, tried));
    if (was_answered) co_return Status{};
    if (tried.is_final) break;
    if (tried.without_unit && tried.without_unit->status == 503) nobody = tried.without_unit;
  }
  if (!nobody) nobody = tried.refusal;
  co_return co_await answer_problem(asked, nobody.value_or(no_room()));
}

}  // namespace cordon::fleet
