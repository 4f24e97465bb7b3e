// SPDX-License-Identifier: Apache-2.0
#include "fleet/indexes.h"

#include <utility>

#include <fmt/format.h>

#include "async/deadline.h"
#include "base/log.h"
#include "etcd/mirror.h"
#include "etcd/sleep.h"

namespace cordon::fleet {

async::Task<void> Indexes::follow(etcd::Client& client, std::uint16_t cell) {
  const std::string key = index_key_of(cell);
  One& one = ones_[cell];
  if (!one.link) one.link = std::make_unique<NodeLink>(house_, audience_of_index(cell));
  etcd::Mirror mirror{client, key, [&one, &key](const std::vector<etcd::Event>& events) {
                        for (const etcd::Event& event : events) {
                          if (event.now.key != key) continue;
                          one.place.reset();
                          one.not_before = {};
                          if (event.kind == etcd::Event::Kind::removed) continue;
                          auto place = decode_index(event.now.value);
                          if (place) {
                            one.place = *std::move(place);
                          } else {
                            log(LogLevel::warning, "fleet", "an index says what none can",
                                {{"key", key}, {"why", place.error().text()}});
                          }
                        }
                      }};
  co_return co_await mirror.run();
}

bool Indexes::has(std::uint16_t cell) const {
  const auto found = ones_.find(cell);
  return found != ones_.end() && found->second.place && clock_.ticks() >= found->second.not_before;
}

std::optional<std::uint64_t> Indexes::number(std::uint16_t cell) const {
  const auto found = ones_.find(cell);
  if (found == ones_.end() || !found->second.place) return std::nullopt;
  return found->second.place->number;
}

async::Task<bool> Indexes::until_other(std::uint16_t cell, std::optional<std::uint64_t> number,
                                       std::chrono::milliseconds limit) const {
  constexpr std::chrono::milliseconds kLook{20};
  const Ticks end = clock_.ticks() + limit;
  for (;;) {
    const auto now = this->number(cell);
    if (now && now != number) co_return true;
    if (clock_.ticks() >= end) co_return false;
    co_await etcd::sleep(kLook);
  }
}

async::Task<Nodes::Answer> Indexes::ask_now(std::uint16_t cell, OwnQuestion question) {
  const auto found = ones_.find(cell);
  if (found == ones_.end() || !found->second.place) {
    co_return Error{Errc::unavailable, fmt::format("cell {} has no index now", cell)};
  }
  One& one = found->second;
  if (question.fields.empty()) {
    CO_TRY(const std::string token, reissue_.own_to_index(cell, clock_.wall()));
    question.fields.push_back({"Authorization", "Bearer " + token});
  }
  const std::size_t most = question.most;
  const std::string address = one.place->address;
  CO_TRY(auto connection, co_await one.link->take(address));
  CO_TRY(std::string bytes, to_bytes(std::move(question), audience_of_index(cell)));
  CO_TRY_DO(co_await connection->write(std::move(bytes)));
  NodeAnswer reading{*connection};
  CO_TRY(http::ResponseHead head, co_await reading.head());
  CO_TRY(std::string body, co_await reading.rest(most));
  if (reading.keeps()) one.link->give_back(address, std::move(connection));
  co_return Nodes::Answer{
      .status = head.status, .fields = std::move(head.fields), .body = std::move(body)};
}

async::Task<Nodes::Answer> Indexes::ask(std::uint16_t cell, OwnQuestion question,
                                        std::chrono::milliseconds limit) {
  auto answer = co_await async::within(limit, ask_now(cell, std::move(question)));
  if (answer && answer->status < 500) co_return answer;
  if (const auto found = ones_.find(cell); found != ones_.end()) {
    found->second.not_before = clock_.ticks() + kSilent;
  }
  if (answer) {
    co_return Error{Errc::unavailable,
                    fmt::format("the index of cell {} answers {}", cell, answer->status)};
  }
  co_return std::move(answer).error().with(fmt::format("the index of cell {}", cell));
}

void Indexes::close_idle() {
  const Ticks now = clock_.ticks();
  for (const auto& [cell, one] : ones_) {
    if (one.link) one.link->close_idle(now);
  }
}

}  // namespace cordon::fleet
