// SPDX-License-Identifier: Apache-2.0
// What happens to sandboxes, for whoever listens. The last of each tenant is kept, in memory only:
// the record that outlives us is the log.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "frame/guest.h"
#include "record/denial.h"
#include "record/verdict.h"

namespace cordon::node {

namespace event {
struct Created {};
struct Adopted {};  // from a node before this one
struct LimitReached {
  Verdict verdict;
};
struct Ended {
  Verdict verdict;
};
struct ProcessStarted {
  std::uint32_t process = 0;
  std::uint32_t pid = 0;
  std::string program;
};
struct ProcessEnded {
  std::uint32_t process = 0;
  std::optional<frame::Exited> exited;  // nothing: it never ran
  std::string failure;
};
struct Denied {
  Denial denial;
};
}  // namespace event

using Happening = std::variant<event::Created, event::Adopted, event::LimitReached, event::Ended,
                               event::ProcessStarted, event::ProcessEnded, event::Denied>;

struct Event {
  std::uint64_t number = 0;  // in its ring, from 1 on, without gaps
  WallTime at{};
  std::string tenant;
  std::string sandbox;
  Happening what;
};

// The last events of one tenant. Its numbers mean nothing in another.
class EventRing {
 public:
  static constexpr std::size_t kMost = 1000;

  EventRing(const asio::any_io_executor& executor, std::string name)
      : name_{std::move(name)}, news_{executor, asio::steady_timer::time_point::max()} {}
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  void push(Event event);
  // Where a reader stands that has all up to `number`: "abcdef-12".
  std::string cursor(std::uint64_t number) const;
  // Nothing: it is of another ring, of an earlier node say, or of none.
  std::optional<std::uint64_t> number_of(std::string_view cursor) const;

  // The first that is held behind `number`; nothing: there is none yet. Until the next co_await.
  const Event* behind(std::uint64_t number) const;
  // Until there may be a new one; also where the caller is cancelled.
  asio::awaitable<void> news();
  WallTime last_at() const { return held_.empty() ? WallTime{} : held_.back().at; }

 private:
  std::string name_;
  asio::steady_timer news_;  // never fires: cancelled when there is something new
  std::deque<Event> held_;
  std::uint64_t last_ = 0;
};

// Used from the loop's thread only.
class Events {
 public:
  // Of those beyond, the ones that were quiet longest are forgotten, but for readers.
  static constexpr std::size_t kMostRings = 256;

  // `clock` outlives it.
  Events(asio::any_io_executor executor, const Clock& clock)
      : executor_{std::move(executor)}, clock_{clock} {}

  void tell(const std::string& tenant, const std::string& sandbox, Happening what);
  // Empty: what happens to all, for an operator.
  std::shared_ptr<EventRing> ring(const std::string& tenant);

 private:
  void make_room();

  asio::any_io_executor executor_;
  const Clock& clock_;
  std::map<std::string, std::shared_ptr<EventRing>> rings_;  // shared with readers
};

}  // namespace cordon::node
