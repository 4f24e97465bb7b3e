// SPDX-License-Identifier: Apache-2.0
// filter_run: runs a command under one of the filters alone. `filter_run PROFILE COMMAND...`, and
// `filter_run PROFILE` prints how long it takes to load.
//
// For tests of whether real programs bear a filter. It is static, as the programs that load filters
// are.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "os/filter/filter.h"
#include "os/prctl.h"
#include "os/seccomp.h"
#include "os/socket.h"

namespace cordon {
namespace {

constexpr int kOwnFailure = 125;

[[noreturn]] void die(const Error& error) {
  std::cerr << "filter_run: " << error.text() << '\n';
  std::_Exit(kOwnFailure);
}

// Loads the filter; a listener goes to the parent, which answers.
Status bind_self(os::FilterProfile profile, const os::Fd& parent) {
  TRY_DO(os::set_no_new_privs());
  const os::FilterProgram program = os::filter_program(profile);
  if (!os::has_notify(profile)) return os::seccomp_load(program);
  TRY(const os::Fd listener, os::seccomp_load_with_listener(program));
  constexpr std::array kByte{std::byte{1}};
  const std::array fds{&listener};
  TRY_DO(os::send(parent, kByte, fds));
  return {};
}

[[noreturn]] void exec_under(os::FilterProfile profile, const os::Fd& parent, char** command) {
  if (const auto done = bind_self(profile, parent); !done) die(done.error());
  ::execvp(command[0], command);
  die(Error::from_errno("execvp").with(command[0]));
}

// Lets every call go on, in a process of its own, until nobody is left who could make one.
void answer_all(const os::Fd& child) {
  std::array<std::byte, 1> byte{};
  auto got = os::receive(child, byte, 1);
  if (!got || got->fds.empty()) return;
  const os::Fd listener = std::move(got->fds.front());
  if (::fork() != 0) return;
  pollfd waiting{.fd = listener.get(), .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, -1) >= 0 && (waiting.revents & POLLIN) != 0) {
    if (const auto call = os::seccomp_receive(listener)) {
      (void)os::seccomp_respond_continue(listener, call->id);
    }
  }
  std::_Exit(0);
}

int run(os::FilterProfile profile, char** command) {
  auto pair = os::socketpair(os::SocketType::seqpacket);
  if (!pair) die(pair.error());
  const pid_t child = ::fork();
  if (child == 0) exec_under(profile, pair->two, command);
  pair->two = os::Fd{};
  if (os::has_notify(profile)) answer_all(pair->one);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The least and the middle of many loads, each in a process of its own.
int print_time(os::FilterProfile profile) {
  constexpr int kLoads = 201;
  std::vector<double> took;
  for (int i = 0; i < kLoads; ++i) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) die(Error::from_errno("pipe2"));
    const pid_t child = ::fork();
    if (child == 0) {
      if (const auto done = os::set_no_new_privs(); !done) die(done.error());
      const auto begin = std::chrono::steady_clock::now();
      if (const auto done = os::seccomp_load(os::filter_program(profile)); !done) die(done.error());
      const std::chrono::duration<double, std::micro> spent =
          std::chrono::steady_clock::now() - begin;
      const double micros = spent.count();
      std::_Exit(::write(ends[1], &micros, sizeof micros) == sizeof micros ? 0 : 1);
    }
    double micros = 0;
    if (::read(ends[0], &micros, sizeof micros) == sizeof micros) took.push_back(micros);
    ::close(ends[0]);
    ::close(ends[1]);
    ::waitpid(child, nullptr, 0);
  }
  if (took.size() != kLoads) return kOwnFailure;
  std::ranges::sort(took);
  std::cout << os::to_string(profile) << ": " << os::filter_program(profile).size()
            << " instructions, loaded in " << took.front() << " us at least, "
            << took[took.size() / 2] << " us in the middle\n";
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) {
  const auto profile = argc > 1 ? cordon::os::filter_profile_from_string(argv[1]) : std::nullopt;
  if (!profile) {
    std::cerr << "usage: filter_run PROFILE [COMMAND...]\n";
    return cordon::kOwnFailure;
  }
  return argc > 2 ? cordon::run(*profile, argv + 2) : cordon::print_time(*profile);
}
