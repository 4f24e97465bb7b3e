// SPDX-License-Identifier: Apache-2.0
// What changes below a directory of a sandbox: told while it changes, or kept for who asks again
// and again.
#include <algorithm>

#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "async/deadline.h"
#include "base/utf8.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kWatchesMessage = std::size_t{64} << 10U;
constexpr std::chrono::seconds kBeginning{30};
constexpr std::chrono::seconds kKeepalive{45};
// Of those that clients ask about again and again: how often each is looked after, how many there
// are of a sandbox, and what is kept of one.
constexpr std::chrono::seconds kLooked{5};
constexpr std::size_t kMostPolled = 32;
constexpr std::size_t kMostKept = 4096;

std::string_view kind_of(frame::WatchKind kind) {
  switch (kind) {
    case frame::WatchKind::made:
    case frame::WatchKind::moved_here:
      return "EVENT_TYPE_CREATE";
    case frame::WatchKind::changed:
      return "EVENT_TYPE_WRITE";
    case frame::WatchKind::attributes:
      return "EVENT_TYPE_CHMOD";
    case frame::WatchKind::removed:
      return "EVENT_TYPE_REMOVE";
    case frame::WatchKind::moved_away:
      break;
  }
  return "EVENT_TYPE_RENAME";
}

void write_change(wire::JsonWriter& json, const frame::WatchEvent& event) {
  json.begin_object();
  json.text("name", event.name);
  json.text("type", kind_of(event.kind));
  json.end_object();
}

std::string changes_of(const frame::WatchEvents& told) {
  std::string all;
  for (const frame::WatchEvent& event : told.events) {
    if (!is_utf8(event.name)) continue;
    wire::JsonWriter json;
    json.begin_object();
    json.key("filesystem");
    write_change(json, event);
    json.end_object();
    all += message_envelope(json.take());
  }
  return all;
}

Result<frame::StartWatch> wanted_watch(const Message& message) {
  TRY(const auto path, message.text("path"));
  TRY(std::string plain, inner_path(path.value_or("")));
  TRY(const auto recursive, message.boolean("recursive"));
  return frame::StartWatch{.path = std::move(plain), .recursive = recursive.value_or(false)};
}

// Until nobody can ask for it any more.
asio::awaitable<void> keep_changes(std::shared_ptr<PolledWatch> polled) {
  while (!polled->is_removed && !polled->resident->is_ending()) {
    const auto told = co_await async::within(kLooked, polled->watch->next());
    if (!told && told.error().code() == Errc::timeout) continue;
    if (!told) co_return;
    for (const frame::WatchEvent& event : told->events) {
      if (polled->changes.size() >= kMostKept) polled->changes.pop_front();
      if (is_utf8(event.name)) polled->changes.push_back(event);
    }
  }
}

}  // namespace

async::Task<void> Face::watch_directory(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kWatchesMessage));
  CO_TRY(const std::string_view text, only_message(body));
  CO_TRY(const Message message, Message::read(text));
  CO_TRY(frame::StartWatch wanted, wanted_watch(message));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/connect+json")));
  const auto watch = co_await async::within(kBeginning, inside->sandbox().watch(std::move(wanted)));
  if (!watch) co_return co_await end_with(call, connect_error(watch.error()));
  CO_TRY_DO(co_await call.exchange.write(message_envelope(R"({"start":{}})")));
  for (;;) {
    const auto told = co_await async::within(kKeepalive, (*watch)->next());
    if (told) {
      CO_TRY_DO(co_await call.exchange.write(changes_of(*told)));
    } else if (told.error().code() == Errc::timeout) {
      CO_TRY_DO(co_await call.exchange.write(message_envelope(R"({"keepalive":{}})")));
    } else {
      co_return co_await end_with(call, connect_error(told.error()));
    }
  }
}

std::shared_ptr<PolledWatch> Face::polled_of(const node::Resident& resident,
                                             std::string_view name) const {
  const auto found = polled_.find(std::string{name});
  const bool is_its = found != polled_.end() && found->second->resident.get() == &resident;
  return is_its ? found->second : nullptr;
}

async::Task<std::string> Face::create_watcher(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kWatchesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(frame::StartWatch wanted, wanted_watch(message));
  std::erase_if(polled_, [](const auto& each) { return each.second->resident->is_ending(); });
  const auto own = std::ranges::count_if(
      polled_, [&](const auto& each) { return each.second->resident == inside; });
  if (static_cast<std::size_t>(own) >= kMostPolled) {
    co_return Error{Errc::exhausted, "the sandbox has 32 watchers; remove some first"};
  }
  CO_TRY(auto watch,
         co_await async::within(kBeginning, inside->sandbox().watch(std::move(wanted))));
  const std::string name = parts_.new_request_id();
  const auto polled =
      std::make_shared<PolledWatch>(PolledWatch{.resident = inside, .watch = std::move(watch)});
  polled_.emplace(name, polled);
  scope_->spawn(keep_changes(polled));
  wire::JsonWriter json;
  json.begin_object();
  json.text("watcherId", name);
  json.end_object();
  co_return json.take();
}

async::Task<std::string> Face::watcher_events(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kWatchesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const auto name, message.text("watcherId"));
  const auto polled = polled_of(*inside, name.value_or(""));
  if (!polled) co_return Error{Errc::not_found, "there is no such watcher"};
  wire::JsonWriter json;
  json.begin_object();
  json.key("events");
  json.begin_array();
  for (const frame::WatchEvent& event : std::exchange(polled->changes, {})) {
    write_change(json, event);
  }
  json.end_array();
  json.end_object();
  co_return json.take();
}

async::Task<std::string> Face::remove_watcher(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kWatchesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const auto name, message.text("watcherId"));
  const auto polled = polled_of(*inside, name.value_or(""));
  if (!polled) co_return Error{Errc::not_found, "there is no such watcher"};
  polled->is_removed = true;
  polled_.erase(name.value_or(""));
  co_return std::string{"{}"};
}

}  // namespace cordon::api::e2b
