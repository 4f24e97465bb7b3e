// SPDX-License-Identifier: Apache-2.0
#include "node/census.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "async/waiting.h"

namespace cordon::node {

struct Census::State {
  explicit State(const asio::any_io_executor& executor) : news{executor, async::kNever} {}

  struct Kept {
    Resident resident;
    std::uint64_t changed = 0;  // the number of its last change
  };
  void touch(std::uint64_t which) {
    Kept& kept = all.at(which);
    order.erase(kept.changed);
    kept.changed = ++last;
    order.emplace(kept.changed, which);
    news.cancel();
  }

  std::map<std::uint64_t, Kept> all;             // by the number of the first change
  std::map<std::uint64_t, std::uint64_t> order;  // which one, by the number of its last change
  std::map<std::string, std::uint64_t, std::less<>> ids;  // of those that are there
  std::set<std::uint64_t> gone;                           // by their last change
  std::uint64_t last = 0;
  std::uint64_t forgotten = 0;  // of what is gone, changes up to here are unknown
  std::uint64_t index = 0;
  asio::steady_timer news;  // never fires: cancelled when there is something new
};

Census::Census(const asio::any_io_executor& executor) : state_{std::make_shared<State>(executor)} {}

Census::Entry Census::enter(Resident resident) {
  const std::uint64_t number = ++state_->last;
  state_->ids.emplace(resident.id, number);
  state_->all.emplace(number, State::Kept{std::move(resident), number});
  state_->order.emplace(number, number);
  state_->news.cancel();
  return Entry{state_, number};
}

void Census::changed(std::string_view id) {
  const auto found = state_->ids.find(id);
  if (found != state_->ids.end()) state_->touch(found->second);
}

Census::Entry& Census::Entry::operator=(Entry&& other) noexcept {
  if (this != &other) {
    leave();
    state_ = std::move(other.state_);
    number_ = other.number_;
  }
  return *this;
}

Census::Entry::~Entry() { leave(); }

void Census::Entry::changed() {
  if (state_) state_->touch(number_);
}

void Census::Entry::leave() {
  if (!state_) return;
  State& state = *state_;
  state.touch(number_);
  State::Kept& kept = state.all.at(number_);
  kept.resident.is_gone = true;
  state.ids.erase(kept.resident.id);
  state.gone.insert(kept.changed);
  if (state.gone.size() > kMostGone) {
    state.forgotten = *state.gone.begin();
    const auto oldest = state.order.find(state.forgotten);
    state.all.erase(oldest->second);
    state.order.erase(oldest);
    state.gone.erase(state.gone.begin());
  }
  state_.reset();
}

Census::Changed Census::behind(std::uint64_t number, std::size_t most) const {
  Changed changed;
  for (auto at = state_->order.upper_bound(number);
       at != state_->order.end() && changed.size() < most; ++at) {
    changed.emplace_back(at->first, &state_->all.at(at->second).resident);
  }
  return changed;
}

std::uint64_t Census::forgotten() const noexcept { return state_->forgotten; }
std::uint64_t Census::last() const noexcept { return state_->last; }

asio::awaitable<void> Census::news(Ticks until) {
  using asio::experimental::awaitable_operators::operator||;
  const auto state = state_;
  asio::steady_timer time{state->news.get_executor(), until};
  co_await (state->news.async_wait(async::kQuiet) || time.async_wait(async::kQuiet));
}

Status Census::begin_index(std::uint64_t index) {
  if (index < state_->index) {
    return Error{Errc::exists, fmt::format("a later index has read here: {}", state_->index)};
  }
  state_->index = index;
  return {};
}

Status Census::check(const wire::Unit& unit, WallTime now) const {
  if (unit.index == state_->index && now < unit.before) return {};
  return Error{Errc::unavailable,
               "what the cell's index has allowed this sandbox by holds no more"};
}

}  // namespace cordon::node
