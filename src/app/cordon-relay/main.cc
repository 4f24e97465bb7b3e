// SPDX-License-Identifier: Apache-2.0
// cordon-relay: pid 1 of a sandbox behind an engine. The launcher has put the host's stream at
// descriptor 3, the guest's at 4 and 5, the engine's words at 6, its pidfd at 7 and, where it tells
// what programs do, a socket to which it comes at 8; and has taken everything else away.
// `cordon-relay carry`: of a machine. `cordon-relay save`, `cordon-relay load`: of one whose
// monitor is at 8 then, and whose state is written to, or read from, 9.
#include <array>
#include <csignal>
#include <fcntl.h>
#include <string_view>

#include "os/fd.h"
#include "os/filter/own_filter.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/seccomp.h"
#include "relay/relay.h"

namespace {

using namespace cordon;

constexpr int kCannotConfine = 125;
constexpr int kTrace = 8;

Status confine() {
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::set_cloexec_from(3));
  return os::seccomp_load(os::own_filter(os::OwnProgram::relay));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view word = count == 2 ? arguments[1] : "";
  const relay::MachineTask task = word == "carry"  ? relay::MachineTask::carry
                                  : word == "save" ? relay::MachineTask::save
                                  : word == "load" ? relay::MachineTask::load
                                                   : relay::MachineTask::none;
  const bool is_saved = task == relay::MachineTask::save || task == relay::MachineTask::load;
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  relay::Ends ends{.control = os::Fd{3},
                   .to_guest = os::Fd{4},
                   .from_guest = os::Fd{5},
                   .words = os::Fd{6},
                   .engine = os::Fd{7},
                   .monitor = os::Fd{is_saved ? kTrace : -1},
                   .state = os::Fd{is_saved ? kTrace + 1 : -1},
                   .trace = os::Fd{!is_saved && ::fcntl(kTrace, F_GETFD) >= 0 ? kTrace : -1}};
  for (const os::Fd* end : {&ends.control, &ends.to_guest, &ends.from_guest, &ends.words}) {
    if (!os::set_nonblocking(*end, true)) return kCannotConfine;
  }
  if (ends.trace && !os::set_nonblocking(ends.trace, true)) return kCannotConfine;
  if (!confine()) return kCannotConfine;
  return static_cast<int>(relay::carry(std::move(ends), task));
}
