// SPDX-License-Identifier: Apache-2.0
#include "fleet/census_readers.h"

#include <algorithm>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/waiting.h"
#include "base/log.h"
#include "etcd/sleep.h"
#include "fleet/node_answer.h"

namespace cordon::fleet {
namespace {

constexpr std::size_t kLongestLine = std::size_t{256} << 10U;
constexpr std::chrono::milliseconds kLook{200};
constexpr int kConflict = 409;

}  // namespace

CensusReaders::CensusReaders(const asio::any_io_executor& executor, etcd::Client& client,
                             std::uint16_t cell, Nodes& nodes, Election& election, CellIndex& index,
                             const Clock& clock)
    : client_{client},
      cell_{cell},
      nodes_{nodes},
      election_{election},
      index_{index},
      clock_{clock},
      news_{executor, async::kNever} {}

std::optional<std::uint64_t> CensusReaders::term() const {
  return election_.acts() == term_ ? term_ : std::nullopt;
}

void CensusReaders::begin_term(std::optional<std::uint64_t> number) {
  if (number == term_) return;
  term_ = number;
  term_began_ = clock_.ticks();
  found_.reset();
  ahead_of_us_.clear();
  for (const NodeId node : nodes_.roster().all()) index_.forget(node);
}

asio::awaitable<void> CensusReaders::find_nodes(std::uint64_t term) {
  while (term_ == term && !found_) {
    const auto found = co_await client_.range({.keys = etcd::below(nodes_of(cell_))});
    if (term_ != term) co_return;
    if (!found) {
      co_await etcd::sleep(kPause);
      continue;
    }
    std::vector<NodeId> nodes;
    for (const etcd::KeyValue& one : found->values) {
      if (const auto node = node_of(one.key)) nodes.push_back(*node);
    }
    found_ = std::move(nodes);
  }
}

bool CensusReaders::is_read(NodeId node, Ticks now) const {
  const auto read = index_.read_at(node);
  return read && now - *read < kWhole;
}

Ticks CensusReaders::unread_since(NodeId node) const {
  const auto found = readers_.find(node);
  if (found != readers_.end()) return std::max(term_began_, found->second.read_last);
  return nodes_.standing(node) ? clock_.ticks() : term_began_;
}

std::vector<NodeId> CensusReaders::unread(std::chrono::milliseconds since) const {
  const Ticks now = clock_.ticks();
  std::set<NodeId> unread;
  const auto is_missing = [&](NodeId node) {
    return !is_read(node, now) && now - unread_since(node) >= since;
  };
  // In etcd, and nothing can be made of what it says there.
  for (const NodeId node : found_.value_or(std::vector<NodeId>{})) {
    if (!nodes_.standing(node) && is_missing(node)) unread.insert(node);
  }
  for (const NodeId node : nodes_.roster().all()) {
    const bool is_dead = nodes_.standing(node).value_or(Standing::dead) == Standing::dead;
    if (!is_dead && is_missing(node)) unread.insert(node);
  }
  return {unread.begin(), unread.end()};
}

std::optional<Ticks> CensusReaders::all_read_at() const {
  if (!term() || !found_) return std::nullopt;
  const Ticks now = clock_.ticks();
  Ticks earliest = now;
  for (const NodeId node : unread()) {
    if (now - unread_since(node) < kGivenUp) return std::nullopt;
  }
  for (const NodeId node : nodes_.roster().all()) {
    if (nodes_.standing(node).value_or(Standing::dead) == Standing::dead) continue;
    if (is_read(node, now)) earliest = std::min(earliest, *index_.read_at(node));
  }
  return earliest;
}

asio::awaitable<void> CensusReaders::until_has(const std::vector<NodeMark>& marks,
                                               std::chrono::milliseconds limit) const {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer end{news_.get_executor(), limit};
  bool is_late = false;
  // Also one that can never be there is waited for: it is about to be.
  while (!is_late && !std::ranges::all_of(
                         marks, [&](const auto& one) { return index_.has(one.node, one.at); })) {
    const auto first = co_await (news_.async_wait(async::kQuiet) || end.async_wait(async::kQuiet));
    is_late = first.index() == 1;
  }
}

async::Task<void> CensusReaders::read_lines(NodeId node, std::uint64_t term) {
  CO_TRY(const auto connection, co_await nodes_.connect(node));
  CO_TRY_DO(co_await nodes_.send(*connection, node,
                                 {.path = fmt::format("/v1/node/census?index={}", term)}));
  NodeAnswer answer{*connection};
  CO_TRY(http::ResponseHead head, co_await async::within(kSilence, answer.head()));
  nodes_.heard(node, head.fields);
  if (head.status == kConflict) overtaken_at(node);
  if (head.status != 200) {
    co_return Error{Errc::unavailable, fmt::format("it answers {}", head.status)};
  }
  index_.begin(node);
  while (election_.elected() == term) {
    CO_TRY(const std::string line, co_await async::within(kSilence, answer.line(kLongestLine)));
    if (line.empty()) co_return Error{Errc::unavailable, "it has ended"};
    // Nobody acts on what an earlier term has read.
    if (term_ != term) break;
    CO_TRY(const bool is_whole, index_.took(node, line, clock_.ticks()));
    if (is_whole) news_.cancel();
  }
  co_return Status{};
}

// One that lies would have index after index give up.
void CensusReaders::overtaken_at(NodeId node) {
  ahead_of_us_.insert(node);
  const auto living = std::ranges::count_if(nodes_.roster().all(), [&](NodeId one) {
    return nodes_.standing(one).value_or(Standing::dead) != Standing::dead;
  });
  if (2 * ahead_of_us_.size() > static_cast<std::size_t>(living)) election_.overtaken();
}

asio::awaitable<void> CensusReaders::read(NodeId node, std::uint64_t term) {
  const Status ended = co_await read_lines(node, term);
  if (term_ == term) index_.broke_off(node);
  Reader& reader = readers_[node];
  reader.is_running = false;
  // Whoever says what no node says is asked less and less often.
  const bool is_wrong = !ended && ended.error().code() == Errc::invalid;
  reader.pause = is_wrong ? std::min<std::chrono::milliseconds>(reader.pause * 2, kLongestPause)
                          : std::chrono::milliseconds{kPause};
  reader.not_before = clock_.ticks() + reader.pause;
  if (!ended) {
    log(LogLevel::info, "index", "a node is not read any more",
        {{"node", to_string(node)}, {"why", ended.error().text()}});
  }
}

asio::awaitable<void> CensusReaders::keep(async::Scope& scope) {
  for (;;) {
    if (const auto elected = election_.elected(); elected != term_) {
      begin_term(elected);
      if (elected) scope.spawn(find_nodes(*elected));
    }
    const Ticks now = clock_.ticks();
    for (const NodeId node : nodes_.roster().all()) {
      if (nodes_.standing(node).value_or(Standing::dead) == Standing::dead) {
        index_.forget(node);
        if (const auto known = readers_.find(node); known != readers_.end()) {
          known->second.read_last = now;
        }
        continue;
      }
      Reader& reader = readers_.try_emplace(node, Reader{.read_last = now}).first->second;
      if (is_read(node, now)) reader.read_last = now;
      if (!term_ || reader.is_running || now < reader.not_before) continue;
      reader.is_running = true;
      scope.spawn(read(node, *term_));
    }
    co_await etcd::sleep(kLook);
  }
}

}  // namespace cordon::fleet
