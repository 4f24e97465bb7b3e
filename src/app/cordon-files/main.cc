// SPDX-License-Identifier: Apache-2.0
// cordon-files: serves the file tree of a sandbox to the machine that the sandbox is. The launcher
// has made that tree its root, has given it the workload's own ids and nothing else, and has put
// the stream to the machine at descriptor 3.
// `setid`: of a tree in which nothing that can be written is the host's. `unbelieved`: to a machine
// that will be saved, which is to remember nothing of this tree.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <span>
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
  const std::span<char*> words{arguments, static_cast<std::size_t>(count)};
  const auto is_asked = [&](std::string_view word) {
    return std::ranges::find(
               words, word, [](const char* each) { return std::string_view{each}; }) != words.end();
  };
  const auto set_ids = is_asked("setid") ? files::SetIds::kept : files::SetIds::refused;
  const std::uint64_t believed = is_asked("unbelieved") ? 0 : files::kBelieved;
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  raise_open_files();
  const os::Fd stream{3};
  auto root = os::openat(os::at_cwd(), "/", O_PATH | O_DIRECTORY);
  if (!root || !confine()) return kCannotConfine;
  return files::serve(stream, *std::move(root), set_ids, believed) ? 0 : 1;
}
