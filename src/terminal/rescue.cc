// SPDX-License-Identifier: Apache-2.0
// Everything in the handler is on the list of calls that are safe in one.
#include "terminal/rescue.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

namespace cordon::terminal {
namespace {

constexpr std::array kFaultSignals = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
constexpr std::array kEndSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                    SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};

struct Plan {
  int terminal = -1;
  termios attributes{};
  std::array<char, Rescue::kMostBytes> bytes{};
  std::size_t size = 0;
};

// One is published, the other one is written: the handler never sees a half.
std::array<Plan, 2> plans;
std::atomic<const Plan*> armed = nullptr;
std::array<struct sigaction, 65> before;

static_assert(std::atomic<const Plan*>::is_always_lock_free);

void restore(const Plan& plan) noexcept {
  const pid_t group = ::tcgetpgrp(plan.terminal);
  // In the background the terminal is another's by now.
  if (group >= 0 && group != ::getpgrp()) return;
  // What a full terminal does not take is lost: we do not wait here.
  [[maybe_unused]] const ssize_t put = ::write(plan.terminal, plan.bytes.data(), plan.size);
  ::tcsetattr(plan.terminal, TCSANOW, &plan.attributes);
  ::tcflush(plan.terminal, TCIFLUSH);
}

extern "C" void on_deadly_signal(int number, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  if (const Plan* plan = armed.exchange(nullptr)) restore(*plan);
  ::sigaction(number, &before[static_cast<std::size_t>(number)], nullptr);
  // A fault happens again on return; what was sent is sent again, and arrives on return.
  const bool is_fault =
      info->si_code > 0 && std::ranges::find(kFaultSignals, number) != kFaultSignals.end();
  if (!is_fault) (void)::raise(number);
  errno = error;
}

void take_over(int number, bool only_default) noexcept {
  auto& old = before[static_cast<std::size_t>(number)];
  ::sigaction(number, nullptr, &old);
  if (only_default && ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)) return;
  struct sigaction action{};
  action.sa_sigaction = on_deadly_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);  // SIGTTOU among them: nothing may stop us in between
  ::sigaction(number, &action, nullptr);
}

void give_back(int number) noexcept {
  struct sigaction now{};
  ::sigaction(number, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_deadly_signal)
    ::sigaction(number, &before[static_cast<std::size_t>(number)], nullptr);
}

}  // namespace

Rescue::Rescue(const os::Fd& terminal, const os::TerminalAttributes& attributes)
    : attributes_{attributes}, terminal_{terminal.get()} {
  update({});
  for (const int number : kFaultSignals) take_over(number, false);
  for (const int number : kEndSignals) take_over(number, true);
}

Rescue::~Rescue() {
  for (const int number : kFaultSignals) give_back(number);
  for (const int number : kEndSignals) give_back(number);
  armed = nullptr;
}

void Rescue::update(std::string_view bytes) noexcept {
  Plan& plan = armed.load() == plans.data() ? plans[1] : plans[0];
  plan.terminal = terminal_;
  plan.attributes = attributes_.kernel;
  plan.size = bytes.size() <= kMostBytes ? bytes.size() : 0;
  std::copy_n(bytes.begin(), plan.size, plan.bytes.begin());
  armed = &plan;
}

}  // namespace cordon::terminal
