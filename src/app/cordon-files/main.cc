// SPDX-License-Identifier: Apache-2.0
// cordon-files: serves the file tree of a sandbox to the machine that the sandbox is. The launcher
// has made that tree its root, has given it the workload's own ids and nothing else, and has put
// the stream to the machine at descriptor 3.
#include <csignal>
#include <fcntl.h>

#include "files/serve.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/filter/own_filter.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/seccomp.h"

namespace {

using namespace cordon;

constexpr int kCannotConfine = 125;

Status confine() {
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::set_cloexec_from(3));
  return os::seccomp_load(os::own_filter(os::OwnProgram::files));
}

}  // namespace

int main() {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const os::Fd stream{3};
  auto root = os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY);
  if (!root || !confine()) return kCannotConfine;
  return files::serve(stream, *std::move(root)) ? 0 : 1;
}
