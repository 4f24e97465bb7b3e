// SPDX-License-Identifier: Apache-2.0
// Exercises wrappers of `os` in a program that is linked as the launcher and cordon-init are.
#include <array>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/result.h"
#include "os/capability.h"
#include "os/cgroup_layout.h"
#include "os/fd_log_sink.h"
#include "os/file.h"
#include "os/landlock.h"
#include "os/memfd.h"
#include "os/process.h"
#include "os/seccomp_compile.h"
#include "os/socket.h"
#include "record/host_facts.h"

namespace cordon {
namespace {

Status require(bool holds, std::string_view what) {
  if (!holds) return Error{Errc::internal, std::string{what}};
  return {};
}

Status check_memfd() {
  TRY(const os::Fd memfd, os::sealed_memfd("check", as_bytes("bytes")));
  TRY(const std::string text, os::read_all(memfd, 100));
  TRY_DO(require(text == "bytes", "a memfd gives back other bytes"));
  return require(!os::write_all(memfd, "x"), "a sealed memfd was written");
}

Status check_pipe() {
  TRY(os::Pipe pipe, os::pipe2());
  TRY_DO(os::write_all(pipe.write, "x"));
  pipe.write = os::Fd{};
  TRY(const std::string text, os::read_all(pipe.read, 100));
  return require(text == "x", "a pipe gives back other bytes");
}

Status check_fd_passing() {
  TRY(const os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  TRY(os::Pipe pipe, os::pipe2());
  const std::array fds{&std::as_const(pipe.write)};
  TRY_DO(os::send(pair.one, as_bytes("x"), fds));
  std::array<std::byte, 8> buffer{};
  TRY(const os::Received got, os::receive(pair.two, buffer, 1));
  TRY_DO(require(got.fds.size() == 1, "no descriptor came over the socket"));
  TRY_DO(os::write_all(got.fds[0], "through"));
  std::array<char, 16> text{};
  return require(::read(pipe.read.get(), text.data(), text.size()) == 7, "it is another pipe");
}

Status check_process() {
  TRY(auto child, os::Child::start({}, [] { return 42; }));
  TRY(const os::ExitStatus ended, std::move(child).wait());
  return require(to_string(ended) == "exit 42", "a child ended otherwise");
}

Status check_landlock() {
  const auto abi = os::landlock_abi();
  if (!abi) {
    log(LogLevel::info, "static_check", "no Landlock", {{"why", abi.error().text()}});
    return {};
  }
  TRY(const auto ruleset, os::LandlockRuleset::create(os::landlock_rights_of(*abi), *abi));
  return require(ruleset.lacking().empty(), "an ABI lacks a right of its own");
}

// Links what comes from the static archives of other projects.
Status check_archives() {
  TRY(const auto program, os::compile_filter({.otherwise = os::FilterAction::allow()}));
  TRY_DO(require(!program.empty(), "an empty filter"));
  return require(to_string(os::CapabilitySet{0}) == "cap_chown", "libcap names otherwise");
}

Status check_all() {
  TRY_DO(check_memfd());
  TRY_DO(check_pipe());
  TRY_DO(check_fd_passing());
  TRY_DO(check_process());
  TRY_DO(check_landlock());
  TRY_DO(check_archives());
  TRY(const os::CgroupTrees trees, os::read_cgroup_trees());
  log(LogLevel::info, "static_check", "all hold", {{"cgroups", to_string(trees.layout)}});
  return {};
}

}  // namespace
}  // namespace cordon

int main() {
  const cordon::SystemClock clock;
  cordon::os::FdLogSink sink{cordon::os::Fd{STDERR_FILENO}, clock};
  cordon::set_log_sink(&sink);
  const cordon::Status done = cordon::check_all();
  if (done) return 0;
  cordon::log(cordon::LogLevel::error, "static_check", "failed", {{"why", done.error().text()}});
  return 1;
}
