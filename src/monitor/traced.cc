// SPDX-License-Identifier: Apache-2.0
#include "monitor/traced.h"

#include <algorithm>

#include "monitor/path_denial.h"
#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

static_assert(frame::kOpenWrites == CORDON_OPEN_WRITES);

constexpr std::uint32_t kMostErrorNumber = 4095;

std::string absolute(const frame::TracedAct& act) {
  if (act.path.starts_with('/')) return normal_path(act.path);
  const std::string& base = act.base.empty() ? act.directory : act.base;
  return normal_path(base + "/" + act.path);
}

}  // namespace

Seen seen_of(const frame::TracedAct& act) {
  Seen seen{.pid = act.pid,
            .parent = act.parent,
            .command = act.command,
            .call = act.call,
            .result = -static_cast<std::int64_t>(std::min(act.error_number, kMostErrorNumber)),
            .what = SeenCall{}};
  if (act.kind == frame::TracedKind::connect) {
    seen.what = connect_of(act.path);
  } else if (act.kind == frame::TracedKind::exec && act.error_number == 0) {
    seen.what =
        SeenExec{.program = act.path, .arguments = act.arguments, .directory = act.directory};
  } else {
    seen.what = SeenFile{.used = act.path,
                         .resolved = absolute(act),
                         .flags = act.flags,
                         .is_opened = act.kind == frame::TracedKind::open};
  }
  return seen;
}

}  // namespace cordon::monitor
