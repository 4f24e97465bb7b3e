// SPDX-License-Identifier: Apache-2.0
#include "fleet/nodes.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "async/deadline.h"
#include "async/waiting.h"
#include "base/log.h"
#include "fleet/node_answer.h"
#include "token/sandbox_name.h"

namespace cordon::fleet {
namespace {

constexpr std::string_view kGaugeField = "Cordon-Gauge";
constexpr std::uint32_t kMostSlotsSaid = 1'000'000;

std::optional<std::uint64_t> number_in(const boost::json::object& of, std::string_view name) {
  const auto* const found = of.if_contains(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_uint64()) return found->get_uint64();
  if (found->is_int64() && found->get_int64() >= 0) {
    return static_cast<std::uint64_t>(found->get_int64());
  }
  return std::nullopt;
}

std::optional<Gauge> checked(const std::array<std::uint64_t, 4>& said) {
  const auto [epoch, seq, slots, free] = said;
  if (epoch > std::numeric_limits<std::uint32_t>::max() || slots > kMostSlotsSaid || free > slots) {
    return std::nullopt;
  }
  return Gauge{.at = {.epoch = static_cast<std::uint32_t>(epoch), .seq = seq},
               .slots = static_cast<std::uint32_t>(slots),
               .free = static_cast<std::uint32_t>(free),
               .warm = {}};
}

}  // namespace

std::optional<Gauge> gauge_from(std::string_view text) {
  std::array<std::uint64_t, 4> said{};
  for (std::size_t at = 0; at < said.size(); ++at) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), said[at]);
    if (failure != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool is_last = at + 1 == said.size();
    if (is_last ? !text.empty() : !text.starts_with(' ')) return std::nullopt;
    if (!is_last) text.remove_prefix(1);
  }
  return checked(said);
}

Nodes::Nodes(LinkHouse& house, Reissue& reissue, const Clock& clock, Rules rules,
             Placement::Random random, Save save)
    : house_{house},
      reissue_{reissue},
      clock_{clock},
      rules_{rules},
      save_{std::move(save)},
      roster_{rules.members, std::move(random)},
      started_{clock.ticks()} {}

async::Task<void> Nodes::follow_cell(etcd::Client& client, std::uint16_t cell) {
  co_return co_await follow(client, cell, roster_, clock_, [this](const Roster::News& news) {
    if (news.what == Members::News::expelled) {
      log(LogLevel::warning, "fleet", "a node was expelled", {{"node", to_string(news.node)}});
      // Nobody waits any longer for what it says.
      if (const auto link = links_.find(news.node); link != links_.end()) link->second->close_all();
      return;
    }
    // What was asked of it came to others while it was dead: whoever asks again asks those.
    if (news.was_dead) joined_at_[news.node] = clock_.ticks();
    if (news.what == Members::News::joined) joined_at_.try_emplace(news.node, clock_.ticks());
    log(LogLevel::info, "fleet", "a node",
        {{"node", to_string(news.node)},
         {"is", news.what == Members::News::joined   ? "there"
                : news.what == Members::News::reborn ? "started anew"
                                                     : "back"}});
  });
}

bool Nodes::is_settled(NodeId node) const {
  const auto joined = joined_at_.find(node);
  if (joined == joined_at_.end()) return true;  // of the map that was kept
  // What a gateway finds at its start was there before, as far as it can know.
  return joined->second - started_ < std::chrono::seconds{5} ||
         clock_.ticks() - joined->second >= kSettled;
}

NodeLink& Nodes::link_of(NodeId node) {
  std::unique_ptr<NodeLink>& link = links_[node];
  if (!link) {
    link = std::make_unique<NodeLink>(house_, token::audience_of_node(node.cell, node.node));
  }
  return *link;
}

async::Task<std::unique_ptr<NodeConnection>> Nodes::connect(NodeId node) {
  auto address = roster_.address_of(node);
  if (!address) co_return Error{Errc::not_found, "node " + to_string(node) + ": not known"};
  auto taken = co_await link_of(node).take(*std::move(address));
  if (!taken) {
    const Errc why = taken.error().code();
    if (why != Errc::exhausted && why != Errc::denied) silent(node);
    co_return std::move(taken).error().with("node " + to_string(node));
  }
  co_return *std::move(taken);
}

void Nodes::give_back(NodeId node, std::unique_ptr<http::FarEnd> connection) {
  const auto address = roster_.address_of(node);
  if (connection && address) link_of(node).give_back(*address, std::move(connection));
}

void Nodes::heard(NodeId node, http::Fields& fields) {
  std::optional<Gauge> gauge;
  if (const auto said = http::only(fields, kGaugeField)) gauge = gauge_from(*said);
  http::remove_all_spellings(fields, kGaugeField);
  if (gauge) gauge->warm = roster_.warm_of(node);
  heard_at_[node] = clock_.ticks();
  roster_.answered(node, gauge, clock_.ticks());
}

void Nodes::drains(NodeId node, bool is_draining) {
  roster_.drains(node, is_draining, clock_.ticks());
}

void Nodes::silent(NodeId node) {
  roster_.unanswered(node, clock_.ticks());
  if (const auto link = links_.find(node); link != links_.end()) link->second->drop_idle();
}

async::Task<void> Nodes::send(NodeConnection& to, NodeId node, Question question) {
  if (question.fields.empty()) {
    CO_TRY(const std::string token, reissue_.own(node, clock_.wall()));
    question.fields.push_back({"Authorization", "Bearer " + token});
  }
  CO_TRY(std::string bytes,
         to_bytes(std::move(question), token::audience_of_node(node.cell, node.node)));
  co_return co_await to.write(std::move(bytes));
}

async::Task<Nodes::Answer> Nodes::ask(NodeId node, Question question) {
  const std::size_t most = question.most;
  CO_TRY(auto connection, co_await connect(node));
  CO_TRY_DO(co_await send(*connection, node, std::move(question)));
  NodeAnswer reading{*connection};
  CO_TRY(http::ResponseHead head, co_await reading.head());
  heard(node, head.fields);
  CO_TRY(std::string body, co_await reading.rest(most));
  if (reading.keeps()) give_back(node, std::move(connection));
  co_return Answer{
      .status = head.status, .fields = std::move(head.fields), .body = std::move(body)};
}

void Nodes::take_state(NodeId node, const std::string& body) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(body, error);
  const boost::json::object* const object = error ? nullptr : value.if_object();
  std::optional<Gauge> gauge;
  if (object != nullptr) {
    const auto start = number_in(*object, "start");
    const auto seq = number_in(*object, "seq");
    const auto slots = number_in(*object, "slots");
    const auto free = number_in(*object, "free");
    if (start && seq && slots && free) gauge = checked({*start, *seq, *slots, *free});
    const auto* const draining = object->if_contains("draining");
    if (draining != nullptr && draining->is_bool()) drains(node, draining->get_bool());
  }
  if (gauge) gauge->warm = roster_.warm_of(node);
  heard_at_[node] = clock_.ticks();
  roster_.answered(node, gauge, clock_.ticks());
}

asio::awaitable<void> Nodes::probe(NodeId node) {
  const auto answer =
      co_await async::within(rules_.patience, ask(node, {.path = "/v1/node", .fields = {}}));
  is_probed_.erase(node);
  if (answer && answer->status == 200) {
    take_state(node, answer->body);
  } else {
    silent(node);
  }
}

asio::awaitable<void> Nodes::keep(async::Scope& scope) {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  for (;;) {
    pause.expires_after(rules_.probe / 4);
    co_await pause.async_wait(asio::use_awaitable);
    const Ticks now = clock_.ticks();
    for (const NodeId node : roster_.tick(now)) {
      log(LogLevel::warning, "fleet", "a node is dead: no lease, and no answer",
          {{"node", to_string(node)}});
      // Whoever still waits for it waits for nothing.
      if (const auto link = links_.find(node); link != links_.end()) link->second->close_all();
    }
    for (const NodeId node : roster_.all()) {
      // Nobody is sent to one that is believed full: only we can hear that it is not any more.
      const auto due = roster_.free_of(node) == 0 ? rules_.probe / 2 : rules_.probe;
      const bool is_quiet = now - heard_at_[node] >= due;
      if (is_quiet && is_probed_.emplace(node, true).second) scope.spawn(probe(node));
    }
    for (const auto& [node, link] : links_) link->close_idle(now);
    save_map(now);
  }
}

void Nodes::save_map(Ticks now) {
  if (now - saved_at_ < rules_.save) return;
  saved_at_ = now;
  std::string map = roster_.saved();
  if (map == saved_ || map.empty()) return;
  saved_ = map;
  save_(std::move(map));
}

}  // namespace cordon::fleet
