// SPDX-License-Identifier: Apache-2.0
#include "node/responses.h"

#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/waiting.h"

namespace cordon::node {
namespace {

constexpr std::chrono::milliseconds kBetweenBirths{250};
constexpr std::chrono::seconds kUsage{2};

std::string words_of_reaction(const std::string& then) {
  if (then == "kill") return "the sandbox was ended";
  if (then == "freeze") return "everything in it was stopped, and goes on no more";
  return "it has no network any more";
}

Denial denial_of(const Tripped& tripped) {
  const frame::Response& response = tripped.response;
  return {.code = "CORDON-RESPONSE",
          .tried = fmt::format("{}: {} in {} s", response.when, tripped.reached,
                               response.within_seconds),
          .resolved = {},
          .rule = response.rule,
          .why = fmt::format("more than {} are not tolerated: {}", response.more_than,
                             words_of_reaction(response.then)),
          .fix = {},
          .action = "say what you wanted to do, and let a person look"};
}

}  // namespace

void Responses::act_by(Acts acts) {
  acts_ = std::move(acts);
  act_on_waiting();
}

void Responses::revoke_by(Act act) {
  revoke_ = std::move(act);
  act_on_waiting();
}

void Responses::act_on_waiting() {
  for (const Tripped& tripped : std::exchange(waiting_, {})) act(tripped);
}

void Responses::act(const Tripped& tripped) {
  const std::string& then = tripped.response.then;
  const Act& how = then == "kill" ? acts_.kill : then == "freeze" ? acts_.freeze : revoke_;
  if (how) return how(tripped);
  waiting_.push_back(tripped);
}

void Responses::take(const std::vector<Tripped>& due) {
  for (const Tripped& tripped : due) {
    const frame::Response& response = tripped.response;
    // It is done also where it cannot be written: it takes rights away, and gives none.
    static_cast<void>(log_.append(subject_, ResponseTaken{.when = response.when,
                                                          .reached = tripped.reached,
                                                          .more_than = response.more_than,
                                                          .within_seconds = response.within_seconds,
                                                          .then = response.then,
                                                          .rule = response.rule}));
    taken_.push_back(denial_of(tripped));
    if (when_taken_) when_taken_(tripped, taken_.back());
    act(tripped);
  }
}

void Responses::refused(const Denial& denial, bool is_protected) {
  const Ticks now = std::chrono::steady_clock::now();
  take(wires_.add(Counted::denials, denial.count, now));
  if (is_protected) take(wires_.add(Counted::protected_writes, denial.count, now));
}

void Responses::met(const std::string& host) {
  take(wires_.meet(host, std::chrono::steady_clock::now()));
}

asio::awaitable<void> count_births_of(sandbox::Sandbox& sandbox, Responses& responses,
                                      std::function<bool()> is_over) {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  responses.total(Counted::processes, 0);
  while (!is_over()) {
    if (const auto usage = co_await async::within(kUsage, sandbox.usage())) {
      responses.total(Counted::processes, usage->born);
    }
    pause.expires_after(kBetweenBirths);
    if (const auto [error] = co_await pause.async_wait(async::kQuiet); error) co_return;
  }
}

void Responses::total(Counted what, std::uint64_t sum) {
  take(wires_.add_total(what, sum, std::chrono::steady_clock::now()));
}

}  // namespace cordon::node
