// SPDX-License-Identifier: Apache-2.0
#include "simulation/world.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace cordon::simulation {
namespace {

constexpr std::size_t kImages = 40;
constexpr double kAtHand = 0.6;  // the part of the images that a node has
constexpr int kDraws = 8;        // for a node of another cell

std::vector<std::string> make_images() {
  std::vector<std::string> images;
  images.reserve(kImages);
  for (std::size_t i = 0; i < kImages; ++i) images.push_back(fmt::format("image-{}", i));
  return images;
}

std::vector<Node> make_nodes(const Size& size, const std::vector<std::string>& images,
                             Chance& chance) {
  std::vector<Node> nodes;
  nodes.reserve(size.nodes());
  for (std::uint16_t cell = 0; cell < size.cells; ++cell) {
    for (std::uint32_t number = 0; number < size.nodes_of_cell; ++number) {
      fleet::WarmSet warm;
      for (const std::string& image : images) {
        if (chance.of(kAtHand)) warm.add(image);
      }
      nodes.emplace_back(fleet::NodeId{cell, number}, size.slots, size.tenants, warm);
    }
  }
  return nodes;
}

}  // namespace

World::World(Scenario scenario)
    : scenario_{std::move(scenario)},
      chance_{scenario_.seed},
      cuts_{scenario_.troubles},
      tenants_{make_tenants(scenario_, chance_)},
      lots_{tenants_},
      images_{make_images()},
      nodes_{make_nodes(scenario_.size, images_, chance_)},
      quotas_{scenario_.size, scenario_.arm.quota, tenants_},
      registry_{scenario_, nodes_, cuts_, chance_},
      running_(tenants_.size()),
      arrivals_{scenario_.length},
      answers_{scenario_.length},
      ends_{scenario_.length},
      probes_{scenario_.length},
      losses_{scenario_.length},
      asked_{scenario_.length},
      heard_{scenario_.length},
      died_at_(nodes_.size()),
      creates_of_node_(nodes_.size()),
      writes_before_(scenario_.size.cells) {
  double wanted = 0;
  for (const Tenant& tenant : tenants_) wanted += tenant.wants;
  mean_life_ms_ = wanted / scenario_.creates_per_second * 1000;
  for (std::uint16_t i = 0; i < scenario_.size.gateways; ++i) {
    gateways_.emplace_back(scenario_.arm, scenario_.seed * 1000 + i);
  }
  second_.made_in.resize(scenario_.size.cells);
  tally_.warm_up = static_cast<std::size_t>(scenario_.warm_up / std::chrono::seconds{1});
}

// As spread as placement leaves them, through the quotas that they count against.
void World::fill() {
  for (std::uint16_t tenant = 0; tenant < tenants_.size(); ++tenant) {
    int rounds = 0;
    for (std::uint16_t cell = 0; cell < scenario_.size.cells; ++cell) {
      quotas_.confer(cell, tenant, now_);
    }
    const double part = tenants_[tenant].reaches * scenario_.begins_with;
    for (auto left = static_cast<std::int64_t>(part); left > 0; --left) {
      const std::size_t one = chance_.below(nodes_.size());
      const std::size_t other = chance_.below(nodes_.size());
      const std::size_t node = nodes_[other].used() < nodes_[one].used() ? other : one;
      const std::uint16_t cell = nodes_[node].id().cell;
      if (nodes_[node].is_full()) continue;
      bool is_admitted = quotas_.admit(cell, tenant, now_);
      for (; !is_admitted && rounds < 100; ++rounds) {
        for (std::uint16_t any = 0; any < scenario_.size.cells; ++any) {
          quotas_.confer(any, tenant, now_);
        }
        quotas_.confer(cell, tenant, now_);
        is_admitted = quotas_.admit(cell, tenant, now_);
      }
      if (is_admitted) begin_at(node, tenant);
    }
  }
}

void World::begin_at(std::size_t node, std::uint16_t tenant) {
  nodes_[node].begin(tenant);
  ++running_[tenant];
  ++sandboxes_;
  const auto total = static_cast<std::int64_t>(tenants_[tenant].quota.total);
  tally_.overshoot = std::max(tally_.overshoot, running_[tenant] - total);
  ends_.at(
      now_ + chance_.after(mean_life_ms_),
      {.node = static_cast<std::uint32_t>(node), .epoch = nodes_[node].epoch(), .tenant = tenant});
}

bool World::has_room(std::uint16_t tenant) const {
  const auto total = static_cast<std::int64_t>(tenants_[tenant].quota.total);
  return (total - running_[tenant]) * 50 > total;
}

bool World::reaches(std::uint16_t gateway, std::size_t node) const {
  return nodes_[node].is_up() && !cuts_.is_cut(gateway, nodes_[node].id(), now_);
}

std::optional<fleet::NodeId> World::choose(const Create& create) {
  if (static_cast<std::size_t>(std::popcount(create.cells_without)) >= kCells) return std::nullopt;
  Gateway& gateway = gateways_[create.gateway];
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto node =
        gateway.choose(images_[create.image], std::span{create.tried}.first(create.attempts));
    if (!node) break;
    if ((create.cells_without >> node->cell & 1U) == 0) return node;
  }
  return std::nullopt;
}

void World::place(Create create) {
  const auto node = create.attempts < kAttempts ? choose(create) : std::nullopt;
  if (!node) {
    const bool is_quota = create.cells_without != 0;
    count(is_quota ? &Counts::refused : &Counts::failed);
    if (is_quota && has_room(create.tenant)) count(&Counts::refused_early);
    return;
  }
  Gateway& gateway = gateways_[create.gateway];
  if (gateway.roster().standing(*node, ticks_at(now_)) == fleet::Standing::dead) {
    ++tally_.placed_on_dead;
  }
  gateway.began(*node);
  create.tried[create.attempts++] = *node;
  arrivals_.at(now_ + chance_.between(Millis{1}, Millis{2}),
               {.create = create, .node = index_of(*node)});
}

// The node has the last word, and asks its cell's index.
void World::arrive(Answer answer) {
  constexpr Millis kTimeout{2000};
  if (!reaches(answer.create.gateway, answer.node)) {
    answers_.at(now_ + kTimeout, answer);
    return;
  }
  Node& node = nodes_[answer.node];
  const std::uint16_t cell = node.id().cell;
  Millis wait = chance_.between(Millis{1}, Millis{2});
  if (node.is_full()) {
    answer.said = Said::full;
  } else if (!quotas_.admit(cell, answer.create.tenant, now_)) {
    answer.said = Said::no_quota;
  } else {
    answer.said = Said::made;
    begin_at(answer.node, answer.create.tenant);
    ++creates_of_node_[answer.node];
    ++second_.made_in[cell];
    wait += chance_.between(Millis{5}, Millis{15});
  }
  answer.gauge = node.gauge();
  answers_.at(now_ + wait, answer);
}

void World::answered(const Answer& answer) {
  Gateway& gateway = gateways_[answer.create.gateway];
  const fleet::NodeId node = nodes_[answer.node].id();
  gateway.ended(node);
  if (answer.said == Said::nothing) {
    gateway.unanswered(node, now_);
  } else {
    gateway.answered(node, answer.gauge, now_);
  }
  Create create = answer.create;
  switch (answer.said) {
    case Said::made:
      count(&Counts::made);
      return;
    case Said::full:
      count(&Counts::full);
      break;
    case Said::nothing:
      count(&Counts::silent);
      break;
    case Said::no_quota:
      create.cells_without |= static_cast<std::uint16_t>(1U << node.cell);
  }
  place(create);
}

void World::ask_new() {
  const std::uint64_t many = chance_.poisson(scenario_.creates_per_second / 1000);
  for (std::uint64_t i = 0; i < many; ++i) {
    count(&Counts::creates);
    place({.gateway = static_cast<std::uint16_t>(chance_.below(gateways_.size())),
           .tenant = lots_.draw(chance_),
           .image = static_cast<std::uint16_t>(chance_.below(images_.size()))});
  }
}

Tally World::run() {
  constexpr Millis kFirst{100};  // gateways have heard of the nodes
  fill();
  registry_.begin();
  for (; now_ < scenario_.length; now_ += Millis{1}) {
    step();
    if (now_ >= kFirst) ask_new();
  }
  return std::move(tally_);
}

void World::step() {
  constexpr Millis kSecond{1000};
  change_nodes();
  registry_.run(now_);
  for (const Registry::Told& told : registry_.take_told(now_)) {
    gateways_[told.gateway].took(told.cell, told.events, now_);
  }
  for (const End& end : ends_.take(now_)) {
    if (!nodes_[end.node].end(end.tenant, end.epoch)) continue;
    --running_[end.tenant];
    --sandboxes_;
    quotas_.ended(nodes_[end.node].id().cell, end.tenant);
  }
  for (const Loss& loss : losses_.take(now_)) quotas_.ended(loss.cell, loss.tenant, loss.count);
  for (const Answer& answer : arrivals_.take(now_)) arrive(answer);
  for (const Answer& answer : answers_.take(now_)) answered(answer);
  for (const Probe& one : probes_.take(now_)) {
    gateways_[one.gateway].unanswered(nodes_[one.node].id(), now_);
  }
  confer();
  for (std::uint16_t i = 0; i < gateways_.size(); ++i) {
    if (now_ % kSecond == kSecond * i / gateways_.size()) tick(i);
  }
  if (now_ % kSecond == Millis{0} && now_ > Millis{0}) count_second();
}

}  // namespace cordon::simulation
