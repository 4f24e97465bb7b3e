// SPDX-License-Identifier: Apache-2.0
// What changes below a path of a sandbox, as lines of JSON while it changes.
#include "api/rest/file_call.h"
#include "api/rest/rest.h"
#include "async/deadline.h"
#include "wire/tree_answers.h"

namespace cordon::api {
namespace {

constexpr std::chrono::seconds kBeginning{30};

std::string_view name_of(frame::WatchKind kind) {
  switch (kind) {
    case frame::WatchKind::made:
      return "made";
    case frame::WatchKind::changed:
      return "changed";
    case frame::WatchKind::attributes:
      return "attributes";
    case frame::WatchKind::removed:
      return "removed";
    case frame::WatchKind::moved_away:
      return "moved_away";
    case frame::WatchKind::moved_here:
      break;
  }
  return "moved_here";
}

// All that came together goes out together.
std::string lines_of(const frame::WatchEvents& told) {
  std::string lines;
  for (const frame::WatchEvent& event : told.events) {
    lines += wire::watch_line({.event = name_of(event.kind),
                               .name = event.name,
                               .is_directory = event.directory,
                               .move = event.move});
  }
  if (told.lost) lines += wire::watch_mark_line("lost");
  return lines;
}

}  // namespace

async::Task<void> Rest::watch_files(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "recursive"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const FileCall file, FileCall::of(call, *resident));
  frame::StartWatch wanted{.path = file.path(), .beneath = file.beneath()};
  CO_TRY(wanted.recursive, flag_of(call, "recursive"));
  CO_TRY(const auto watch,
         co_await async::within(kBeginning, resident->sandbox().watch(std::move(wanted))));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  CO_TRY_DO(co_await call.exchange.write(wire::watch_mark_line("watching")));
  for (;;) {
    const auto told = co_await watch->next();
    if (!told) {
      // It, or the sandbox, is gone: nothing more can come.
      CO_TRY_DO(co_await call.exchange.write(wire::watch_mark_line("end")));
      co_return co_await call.exchange.finish();
    }
    CO_TRY_DO(co_await call.exchange.write(lines_of(*told)));
  }
}

}  // namespace cordon::api
