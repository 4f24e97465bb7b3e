// SPDX-License-Identifier: Apache-2.0
// What changes below a directory of a sandbox, while it changes.
#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "async/deadline.h"
#include "base/utf8.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kLargestMessage = std::size_t{64} << 10U;
constexpr std::chrono::seconds kBeginning{30};
constexpr std::chrono::seconds kKeepalive{45};

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

std::string changes_of(const frame::WatchEvents& told) {
  std::string all;
  for (const frame::WatchEvent& event : told.events) {
    if (!is_utf8(event.name)) continue;
    wire::JsonWriter json;
    json.begin_object();
    json.key("filesystem");
    json.begin_object();
    json.text("name", event.name);
    json.text("type", kind_of(event.kind));
    json.end_object();
    json.end_object();
    all += message_envelope(json.take());
  }
  return all;
}

}  // namespace

async::Task<void> Face::watch_directory(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestMessage));
  CO_TRY(const std::string_view text, only_message(body));
  CO_TRY(const Message message, Message::read(text));
  CO_TRY(const auto path, message.text("path"));
  CO_TRY(std::string plain, inner_path(path.value_or("")));
  CO_TRY(const auto recursive, message.boolean("recursive"));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/connect+json")));
  const auto watch = co_await async::within(
      kBeginning,
      inside->sandbox().watch({.path = std::move(plain), .recursive = recursive.value_or(false)}));
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

}  // namespace cordon::api::e2b
