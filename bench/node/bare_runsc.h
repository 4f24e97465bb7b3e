// SPDX-License-Identifier: Apache-2.0
// runsc with nothing of ours around it but the namespaces that an engine is given.
#pragma once

#include <array>
#include <csignal>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "node/link.h"
#include "os/file.h"
#include "os/id_map.h"
#include "os/identity.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/process.h"

namespace cordon::bench {

// Ids of which nobody else has any; a whole range, as a sandbox has.
inline constexpr os::IdRange kBareIds{0, 1'879'048'192, 65'536};

// In the child: ids as they are mapped by then, /proc of its own, a place for its state.
inline int be_runsc(const os::Fd& mapped, const std::array<os::Pipe, 3>& pipes,
                    const Words& words) {
  char byte = 0;
  if (::read(mapped.get(), &byte, 1) != 1 || !os::set_groups({}) || !os::set_group(0) ||
      !os::set_user(0)) {
    return 101;
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0 ||
      ::mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") != 0) {
    return 102;
  }
  if (!os::set_no_new_privs()) return 103;
  const std::array<int, 3> ends{pipes[0].read.get(), pipes[1].write.get(), pipes[2].write.get()};
  for (int number = 0; number < 3; ++number) ::dup2(ends.at(static_cast<unsigned>(number)), number);
  static_cast<void>(os::set_cloexec_from(3));
  static_cast<void>(os::execve(words.at(0).c_str(), words, {}));
  return 104;
}

// To its end: `words` are runsc's own, with the bundle.
inline void run_bare_runsc(const Words& words) {
  os::Pipe mapped = need(os::pipe2(), "pipe");
  std::array<os::Pipe, 3> pipes;
  for (os::Pipe& pipe : pipes) pipe = need(os::pipe2(), "pipe");
  os::Child child =
      need(os::Child::start({.namespaces = os::NsSet{os::Ns::user, os::Ns::mount, os::Ns::pid,
                                                     os::Ns::ipc, os::Ns::uts, os::Ns::net}},
                            [&] { return be_runsc(mapped.read, pipes, words); }),
           "clone");
  need(os::write_uid_map(child.pid(), {&kBareIds, 1}), "uid_map");
  need(os::write_gid_map(child.pid(), {&kBareIds, 1}), "gid_map");
  need(os::write_all(mapped.write, "x"), "pipe");
  const os::ExitStatus status = need(std::move(child).wait(), "wait");
  if (!status.success()) {
    pipes[2].write = os::Fd{};
    const auto said = os::read_all(pipes[2].read, 4096);
    throw std::runtime_error{"runsc: " + to_string(status) + " " + (said ? *said : std::string{})};
  }
}

}  // namespace cordon::bench
