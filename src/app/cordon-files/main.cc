// SPDX-License-Identifier: Apache-2.0
// cordon-files: serves the file tree of a sandbox to the machine that the sandbox is. The launcher
// has made that tree its root, has given it the workload's own ids and nothing else, and has put
// the stream to the machine at descriptor 3.
// `cordon-files setid`: of a tree in which nothing that can be written is the host's.
#include <csignal>
#include <fcntl.h>
#include <string_view>

#include "files/serve.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/filter/own_filter.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

namespace {

using namespace cordon;

constexpr int kCannotConfine = 125;

// What the machine has open is open here, and bounded by its own limits.
void raise_open_files() {
  auto files = os::get_rlimit(os::Rlimit::open_files);
  if (!files) return;
  files->soft = files->hard;
  static_cast<void>(os::set_rlimit(os::Rlimit::open_files, *files));
}

Status confine() {
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::set_cloexec_from(3));
  return os::seccomp_load(os::own_filter(os::OwnProgram::files));
}

}  // namespace

int main(int count, char** arguments) {
  const bool keeps = count == 2 && arguments[1] == std::string_view{"setid"};
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  raise_open_files();
  const os::Fd stream{3};
  auto root = os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY);
  if (!root || !confine()) return kCannotConfine;
  return files::serve(stream, *std::move(root),
                      keeps ? files::SetIds::kept : files::SetIds::refused)
             ? 0
             : 1;
}
