// SPDX-License-Identifier: Apache-2.0
// What happens to a tenant's sandboxes, as lines of JSON: from a place that the client names, and
// on as it happens.
#include <type_traits>

#include "api/rest/file_call.h"
#include "api/rest/rest.h"
#include "wire/event_answer.h"

namespace cordon::api {
namespace {

using node::Event;
namespace event = node::event;

void describe(wire::EventAnswer& answer, const event::Created&) {
  answer.event = "sandbox.created";
}
void describe(wire::EventAnswer& answer, const event::Adopted&) {
  answer.event = "sandbox.adopted";
}
void describe(wire::EventAnswer& answer, const event::LimitReached& reached) {
  answer.event = "sandbox.limit";
  answer.verdict = reached.verdict;
}
void describe(wire::EventAnswer& answer, const event::Ended& ended) {
  answer.event = "sandbox.ended";
  answer.verdict = ended.verdict;
}
void describe(wire::EventAnswer& answer, const event::ProcessStarted& started) {
  answer.event = "process.started";
  answer.process = started.process;
  answer.pid = started.pid;
  answer.program = started.program;
}
void describe(wire::EventAnswer& answer, const event::ProcessEnded& ended) {
  answer.event = ended.exited ? "process.ended" : "process.failed";
  answer.process = ended.process;
  answer.failure = ended.failure;
  if (!ended.exited) return;
  answer.exit =
      wire::ExitAnswer{.by_signal = ended.exited->by_signal, .value = ended.exited->value};
}
void describe(wire::EventAnswer& answer, const event::Denied& denied) {
  answer.event = "denial";
  answer.denial = denied.denial;
}

std::string line_of(const node::EventRing& ring, const Event& told) {
  wire::EventAnswer answer{.cursor = ring.cursor(told.number),
                           .event = {},
                           .at = told.at,
                           .tenant = told.tenant,
                           .sandbox = told.sandbox,
                           .verdict = {},
                           .denial = {},
                           .process = {},
                           .program = {},
                           .exit = {},
                           .failure = {}};
  std::visit([&](const auto& what) { describe(answer, what); }, told.what);
  return wire::event_line(answer);
}

class EventStream {
 public:
  // `sandbox`: only what is about it, until its end; empty: all.
  EventStream(Call& call, std::shared_ptr<node::EventRing> ring, std::string sandbox)
      : call_{call}, ring_{std::move(ring)}, sandbox_{std::move(sandbox)} {}

  // `since`: a cursor; nothing: from the first that is held.
  async::Task<void> run(const std::string* since, bool follows) {
    if (since != nullptr) {
      const auto number = ring_->number_of(*since);
      at_ = number.value_or(0);
      if (!number) {
        CO_TRY_DO(co_await call_.exchange.write(wire::lost_line(ring_->cursor(0), {})));
      }
    }
    // Who asks for the beginning gets what there is of it.
    bool tells_loss = since != nullptr && ring_->number_of(*since).has_value();
    for (;;) {
      CO_TRY_DO(co_await send_held(tells_loss));
      tells_loss = true;
      if (!follows || has_ended_) co_return Status{};
      co_await ring_->news();
    }
  }

 private:
  async::Task<void> send_held(bool tells_loss) {
    while (const Event* const told = has_ended_ ? nullptr : ring_->behind(at_)) {
      const std::uint64_t missed = told->number - at_ - 1;
      std::string lines;
      if (missed > 0 && tells_loss) {
        lines = wire::lost_line(ring_->cursor(told->number - 1), missed);
      }
      tells_loss = true;
      at_ = told->number;
      if (sandbox_.empty() || told->sandbox == sandbox_) {
        lines += line_of(*ring_, *told);
        has_ended_ = !sandbox_.empty() && std::holds_alternative<event::Ended>(told->what);
      }
      if (!lines.empty()) CO_TRY_DO(co_await call_.exchange.write(lines));
    }
    co_return Status{};
  }

  Call& call_;
  std::shared_ptr<node::EventRing> ring_;
  std::string sandbox_;
  std::uint64_t at_ = 0;
  bool has_ended_ = false;
};

async::Task<void> answer_events(Call& call, std::shared_ptr<node::EventRing> ring,
                                std::string sandbox, bool is_living) {
  CO_TRY_DO(only_known(call, {"since", "follow"}));
  const auto since = call.query.find("since");
  CO_TRY(const bool follows, follows_of(call));
  EventStream stream{call, std::move(ring), std::move(sandbox)};
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  CO_TRY_DO(co_await stream.run(since == call.query.end() ? nullptr : &since->second,
                                is_living && follows));
  co_return co_await call.exchange.finish();
}

}  // namespace

async::Task<void> Rest::stream_events(Call& call) {
  return answer_events(call, parts_.events.ring(call.tenant), {}, true);
}

async::Task<void> Rest::stream_sandbox_events(Call& call) {
  bool lives = living(call).has_value();
  if (!lives) {
    CO_TRY(const auto ended, co_await ended_sandbox(call));
    // It may have ended, or have been adopted, while the journal was asked.
    if (!ended) CO_TRY_DO(living(call));
    lives = !ended;
  }
  co_return co_await answer_events(call, parts_.events.ring(call.tenant), call.places.front(),
                                   lives);
}

}  // namespace cordon::api
