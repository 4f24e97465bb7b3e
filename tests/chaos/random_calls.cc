// SPDX-License-Identifier: Apache-2.0
// random_calls SECONDS SEED [PATH...]: makes random system calls, in batches, each in a process of
// its own that a call may end. PATHs are names outside that calls are to be tried on, too.
//
// Once a second it prints how far it is. Nothing that its batches print is kept apart from that.
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "draw.h"
#include "raw_call.h"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kCallsOfABatch = 300;
constexpr auto kTimeOfABatch = 200ms;

// Shared with all batches.
struct Tally {
  std::atomic<std::uint64_t> calls;
  std::array<std::atomic<std::uint32_t>, chaos::kLastNumber + 1> made;
  std::array<std::atomic<std::uint32_t>, chaos::kLastNumber + 1> succeeded;
};

bool is_birth(long number) {
#if defined(__x86_64__)
  if (number == SYS_fork || number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

void interrupted(int) {}

[[noreturn]] void batch(std::uint64_t seed, Tally& tally, std::span<char* const> outside,
                        pid_t generator) {
  ::setsid();
  for (int signal = 1; signal < NSIG; ++signal) static_cast<void>(std::signal(signal, SIG_DFL));
  // Calls that wait are interrupted, as long as no call has changed that.
  struct sigaction action{};
  action.sa_handler = interrupted;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval every{.it_interval = {0, 5000}, .it_value = {0, 5000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  chaos::Random random{seed};
  chaos::Things things{random, outside, generator};
  for (int count = 0; count < kCallsOfABatch; ++count) {
    chaos::Call call = things.draw();
    const auto number = static_cast<std::size_t>(call.number);
    ++tally.calls;
    if (random.below(5000) == 0) chaos::make_foreign(call);
    if (random.below(100) == 0)
      call.number |= chaos::kOtherAbi;
    else
      ++tally.made[number];
    const long result = chaos::make(call);
    if (result == 0 && is_birth(call.number)) random.mix(static_cast<std::uint64_t>(::gettid()));
    if (result >= 0 || result < -4095) ++tally.succeeded[number];
  }
  std::_Exit(0);
}

pid_t parent_of(std::string_view pid) {
  std::string line;
  std::getline(std::ifstream{"/proc/" + std::string{pid} + "/stat"}, line);
  const std::size_t after = line.rfind(") ");  // "7 (name) S 3 ..."
  pid_t parent = 0;
  if (after != std::string::npos && after + 4 < line.size())
    std::from_chars(line.data() + after + 4, line.data() + line.size(), parent);
  return parent;
}

int end_children() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return 0;
  int ended = 0;
  while (const dirent* const entry = ::readdir(processes)) {
    pid_t pid = 0;
    const std::string_view name = entry->d_name;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid < 2 || parent_of(name) != ::getpid()) continue;
    ::kill(pid, SIGKILL);
    ++ended;
  }
  ::closedir(processes);
  return ended;
}

// Whoever a batch left. Those who lose their parent become our children, so some turns reach all.
void end_stragglers() {
  for (int turn = 0; turn < 100 && end_children() > 0; ++turn) {
    while (::waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
  }
}

// How it ended: 0, its signal, or -1 where it had to be ended.
int wait_for(pid_t pid) {
  const auto end = Clock::now() + kTimeOfABatch;
  for (auto pause = 200us; Clock::now() < end; std::this_thread::sleep_for(pause)) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG | __WALL);
    if (ended == pid) return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (ended < 0 && errno == ECHILD) return 0;
  }
  ::kill(pid, SIGKILL);
  return -1;
}

// A batch may have made standard output non-blocking.
void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(1, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EAGAIN && errno != EINTR) {
      return;
    } else {
      pollfd one{.fd = 1, .events = POLLOUT};
      ::poll(&one, 1, 1000);
    }
  }
}

struct Ends {
  std::uint64_t batches = 0;
  std::uint64_t by_signal = 0;
  std::uint64_t by_filter = 0;  // SIGSYS
  std::uint64_t by_us = 0;      // it hung
};

void tell(const Tally& tally, const Ends& ends, std::string_view word) {
  int made = 0;
  int succeeded = 0;
  for (const auto& each : tally.made) made += each.load() > 0 ? 1 : 0;
  for (const auto& each : tally.succeeded) succeeded += each.load() > 0 ? 1 : 0;
  print("\nrandom_calls: " + std::string{word} + ' ' + std::to_string(tally.calls.load()) +
        " calls, " + std::to_string(ends.batches) + " batches, " + std::to_string(made) +
        " numbers, " + std::to_string(succeeded) + " succeeded, " + std::to_string(ends.by_filter) +
        " sigsys, " + std::to_string(ends.by_signal) + " signals, " + std::to_string(ends.by_us) +
        " hung.\n");
}

// Random calls on the host itself would be a disaster: it starts only where Cordon's fences stand.
bool is_in_a_sandbox() {
  utsname names{};
  return ::uname(&names) == 0 && std::string_view{names.nodename} == "cordon" &&
         ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && ::prctl(PR_GET_SECCOMP) == 2 &&
         ::getpid() < 1000;
}

// Nothing but SIGKILL and SIGSTOP ends it, and no batch takes the machine's memory.
void brace() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGCHLD) static_cast<void>(std::signal(signal, SIG_IGN));
  }
  const rlimit memory{.rlim_cur = 512U << 20U, .rlim_max = 512U << 20U};
  ::setrlimit(RLIMIT_AS, &memory);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;  // also a batch that executes us
  if (!is_in_a_sandbox()) {
    print("random_calls: refused: not inside a sandbox\n");
    return 2;
  }
  const auto end = Clock::now() + std::chrono::seconds{std::strtol(argv[1], nullptr, 10)};
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const std::span<char* const> outside{argv + 3, static_cast<std::size_t>(argc - 3)};
  void* const shared =
      ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto& tally = *new (shared) Tally{};
  brace();
  Ends ends;
  print("\nrandom_calls: seed " + std::to_string(seed) + "\n");
  for (auto next = Clock::now() + 1s; Clock::now() < end; ++ends.batches) {
    const pid_t generator = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) batch(seed * 1'000'003 + ends.batches, tally, outside, generator);
    if (child > 0) {
      const int how = wait_for(child);
      ends.by_us += how < 0 ? 1 : 0;
      ends.by_filter += how == SIGSYS ? 1 : 0;
      ends.by_signal += how > 0 && how != SIGSYS ? 1 : 0;
    }
    end_stragglers();
    if (Clock::now() >= next) {
      tell(tally, ends, "so far");
      next = Clock::now() + 1s;
    }
  }
  tell(tally, ends, "done");
  return 0;
}
