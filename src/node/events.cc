// SPDX-License-Identifier: Apache-2.0
#include "node/events.h"

#include <charconv>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/id.h"
#include "os/random.h"

namespace cordon::node {

void EventRing::push(Event event) {
  event.number = ++last_;
  if (held_.size() >= kMost) held_.pop_front();
  held_.push_back(std::move(event));
  news_.cancel();
}

std::string EventRing::cursor(std::uint64_t number) const {
  return fmt::format("{}-{}", name_, number);
}

std::optional<std::uint64_t> EventRing::number_of(std::string_view cursor) const {
  if (!cursor.starts_with(name_)) return std::nullopt;
  cursor.remove_prefix(name_.size());
  if (!cursor.starts_with('-')) return std::nullopt;
  cursor.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
  const bool is_whole = error == std::errc{} && end == cursor.data() + cursor.size();
  if (!is_whole || number > last_) return std::nullopt;
  return number;
}

const Event* EventRing::behind(std::uint64_t number) const {
  if (held_.empty() || number >= last_) return nullptr;
  const std::uint64_t first = held_.front().number;
  return number < first ? &held_.front() : &held_[static_cast<std::size_t>(number + 1 - first)];
}

asio::awaitable<void> EventRing::news() {
  co_await news_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void Events::make_room() {
  if (rings_.size() < kMostRings) return;
  auto oldest = rings_.end();
  for (auto at = rings_.begin(); at != rings_.end(); ++at) {
    const bool is_read = at->second.use_count() > 1 || at->first.empty();
    if (is_read) continue;
    if (oldest == rings_.end() || at->second->last_at() < oldest->second->last_at()) oldest = at;
  }
  if (oldest != rings_.end()) rings_.erase(oldest);
}

std::shared_ptr<EventRing> Events::ring(const std::string& tenant) {
  if (const auto found = rings_.find(tenant); found != rings_.end()) return found->second;
  make_room();
  const auto random = os::random_bytes<5>();
  auto made = std::make_shared<EventRing>(executor_, random ? base32(*random) : "unnamed");
  rings_.emplace(tenant, made);
  return made;
}

void Events::tell(const std::string& tenant, const std::string& sandbox, Happening what) {
  Event event{.at = clock_.wall(), .tenant = tenant, .sandbox = sandbox, .what = std::move(what)};
  ring({})->push(event);
  ring(tenant)->push(std::move(event));
}

}  // namespace cordon::node
